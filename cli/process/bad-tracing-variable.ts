import { TracingVariableError } from '../../shared/telemetry/tracing/settings/read-tracing-environment.ts';
import { CommandFailure } from '../command-failure.ts';

/** Returns the failure of a command if its environment has a bad variable about tracing. */
export function badTracingVariable(error: unknown): CommandFailure | undefined {
  if (!(error instanceof TracingVariableError)) return undefined;
  return new CommandFailure(error.message, { cause: error });
}
