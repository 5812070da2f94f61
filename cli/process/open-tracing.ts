import { hostname } from 'node:os';

import type { Environment } from '../../shared/runtime/environment.ts';
import type { CompiledTracing } from '../../shared/snapshot/compiled-tracing.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { createTracer } from '../../shared/telemetry/tracing/create-tracer.ts';
import { ProcessTracing } from '../../shared/telemetry/tracing/settings/process-tracing.ts';
import { readTracingEnvironment } from '../../shared/telemetry/tracing/settings/read-tracing-environment.ts';
import { badTracingVariable } from './bad-tracing-variable.ts';

/** The process that is traced. */
export interface TracedProcess {
  /** `service.name` of its spans. */
  readonly service: 'gatehouse' | 'gatehouse-proxy' | 'gatehouse-controller';
  /** `service.instance.id` of its spans; the host name if absent. */
  readonly instance?: string;
  readonly environment: Environment;
  readonly logger: Logger;
}

/** Opens the tracing of this process, which is off at first. Throws `CommandFailure` for a bad variable. */
export function openTracing({
  service,
  instance = hostname(),
  environment,
  logger,
}: TracedProcess): ProcessTracing {
  return new ProcessTracing({
    tracer: createTracer({ service, instance, logger }),
    environment: readVariables(environment),
    logger,
  });
}

function readVariables(environment: Environment): CompiledTracing {
  try {
    return readTracingEnvironment(environment);
  } catch (error) {
    throw badTracingVariable(error) ?? error;
  }
}
