import {
  loadConfiguration,
  type ConfigurationOptions,
  type Loaded,
} from '../../controller/files/load-configuration.ts';
import { errorCode } from '../../shared/runtime/error-code.ts';
import { CommandFailure } from '../command-failure.ts';
import { badTracingVariable } from './bad-tracing-variable.ts';

/**
 * Loads the configuration that a flag names. Throws `CommandFailure` if it cannot be read, or a variable about
 * tracing is bad.
 */
export async function load(options: ConfigurationOptions): Promise<Loaded> {
  try {
    return await loadConfiguration(options);
  } catch (error) {
    throw badTracingVariable(error) ?? unreadable(options.path, error);
  }
}

/** Returns the failure of a command that cannot read a file or a directory. */
export function unreadable(path: string, error: unknown): CommandFailure {
  return new CommandFailure(`cannot read ${path}: ${reason(error)}`, { cause: error });
}

function reason(error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') return 'there is no such file or directory';
  if (code === 'EACCES') return 'not permitted';
  return code ?? String(error);
}
