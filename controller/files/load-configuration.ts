import type { Environment } from '../../shared/runtime/environment.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { readTracingEnvironment } from '../../shared/telemetry/tracing/settings/read-tracing-environment.ts';
import { readCandidates, type Candidates } from './candidates.ts';
import { ContentsWatcher } from './contents-watcher.ts';
import { readOverrides } from './environment-overrides.ts';
import { FileConfiguration, type FileUpdate } from './file-configuration.ts';
import type { ServedFiles } from './file-compiler.ts';
import type { LocatedProblem } from './located-problem.ts';
import { readContents, type Contents } from './read-contents.ts';

/** Options of loading a configuration. */
export interface ConfigurationOptions {
  /** A file or a directory. */
  readonly path: string;
  readonly environment: Environment;
  readonly devAllowLoopback: boolean;
  /** Accept references to Services unchecked, to validate a configuration for a cluster. */
  readonly assumesServices?: boolean;
}

/** A configuration that was read and compiled for the first time. */
export interface Loaded extends FileUpdate {
  readonly contents: Contents;
  readonly candidates: Candidates;
  readonly configuration: FileConfiguration;
}

/**
 * Reads and compiles a configuration. Throws only if the path does not exist, or `TracingVariableError` for a
 * bad variable about tracing.
 */
export async function loadConfiguration(options: ConfigurationOptions): Promise<Loaded> {
  const { path, environment, devAllowLoopback, assumesServices = false } = options;
  const contents = await readContents(path);
  const candidates = readCandidates(contents, readOverrides(environment));
  const services = assumesServices ? 'assumed' : 'none';
  const configuration = new FileConfiguration({
    devAllowLoopback,
    tracingEnvironment: readTracingEnvironment(environment),
    services,
  });
  return { contents, candidates, configuration, ...configuration.update(candidates) };
}

/** Receives changes of a configuration. */
export interface ConfigurationListener {
  readonly logger: Logger;
  /** Applies the configuration that serves from now on. */
  readonly apply: (served: ServedFiles) => void | Promise<void>;
}

/** Applies changes to a configuration, and reports their problems, until it is closed. */
export function watchConfiguration(
  { contents: initial, configuration }: Loaded,
  { path, environment }: ConfigurationOptions,
  { logger, apply }: ConfigurationListener,
): ContentsWatcher {
  const onChange = async (contents: Contents): Promise<void> => {
    const candidates = readCandidates(contents, readOverrides(environment));
    const { served, problems } = configuration.update(candidates);
    reportProblems(logger, problems);
    if (served !== undefined) await apply(served);
  };
  return new ContentsWatcher({ path, contents: initial, onChange, logger });
}

/** Logs each problem as a record of its own. */
export function reportProblems(logger: Logger, problems: readonly LocatedProblem[]): void {
  for (const { message, resource, path, ...place } of problems) {
    // A file that cannot be parsed has neither.
    const part = { ...(resource === '' ? {} : { resource }), ...(path === '' ? {} : { path }) };
    logger.error('invalid configuration', { ...place, ...part, problem: message });
  }
}
