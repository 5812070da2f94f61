import type { Environment } from '../../shared/runtime/environment.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { compileSnapshot } from '../compile/compile-snapshot.ts';
import { acceptResources, type Acceptance, type Accepted } from './accept-resources.ts';
import { readCandidates } from './candidates.ts';
import { ContentsWatcher } from './contents-watcher.ts';
import { readOverrides } from './environment-overrides.ts';
import type { LocatedProblem } from './located-problem.ts';
import { readContents, type Contents } from './read-contents.ts';

export interface ConfigurationOptions {
  /** A file or a directory. */
  readonly path: string;
  readonly environment: Environment;
  readonly devAllowLoopback: boolean;
  /** Take references to Services for good, unseen: to check a configuration for a cluster. */
  readonly takesServicesUnseen?: boolean;
}

/** A configuration that was read, and what is made of it. */
export interface Loaded extends Acceptance {
  readonly contents: Contents;
}

/** Reads and compiles a configuration. Throws only when the path is not there. */
export async function loadConfiguration(options: ConfigurationOptions): Promise<Loaded> {
  const contents = await readContents(options.path);
  return { contents, ...accept(undefined, contents, options) };
}

export interface Follower {
  readonly logger: Logger;
  /** Takes what is to serve from now on. */
  readonly apply: (accepted: Accepted) => void | Promise<void>;
}

/** Applies changes to a configuration, and reports what is wrong with them, until it is closed. */
export function followConfiguration(
  loaded: Loaded,
  options: ConfigurationOptions,
  { logger, apply }: Follower,
): ContentsWatcher {
  let { accepted: serving } = loaded;
  const onChange = async (contents: Contents): Promise<void> => {
    const { accepted, problems } = accept(serving, contents, options);
    reportProblems(logger, problems);
    if (accepted === undefined) return;
    serving = accepted;
    await apply(accepted);
  };
  return new ContentsWatcher({ path: options.path, contents: loaded.contents, onChange, logger });
}

/** Logs each problem by itself, so that none is lost in another. */
export function reportProblems(logger: Logger, problems: readonly LocatedProblem[]): void {
  for (const { message, ...place } of problems) {
    logger.error('invalid configuration', { ...place, problem: message });
  }
}

function accept(
  previous: Accepted | undefined,
  contents: Contents,
  { environment, devAllowLoopback, takesServicesUnseen = false }: ConfigurationOptions,
): Acceptance {
  const candidates = readCandidates(contents, readOverrides(environment));
  return acceptResources(previous, candidates, (resources) =>
    compileSnapshot(resources, { devAllowLoopback, takesServicesUnseen }),
  );
}
