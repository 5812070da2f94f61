import { readCandidates } from '../../controller/files/candidates.ts';
import { readOverrides } from '../../controller/files/environment-overrides.ts';
import { FileConfiguration } from '../../controller/files/file-configuration.ts';
import { formatProblem } from '../../controller/files/located-problem.ts';
import { readContents, type Contents } from '../../controller/files/read-contents.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import { CommandFailure } from '../command-failure.ts';
import { unreadable } from '../process/load.ts';

/** Files with routes and settings, and how to read them. */
export interface FilesToRead {
  /** Files and directories. */
  readonly paths: readonly string[];
  readonly environment: Environment;
  readonly devAllowLoopback: boolean;
}

/**
 * Compiles the manifests of files and directories as `gatehouse run` does. Services are assumed, and so are
 * the Secrets that no file has: who may do what does not depend on them.
 *
 * Rejects with a `CommandFailure` with every problem if there are any: something else would be explained
 * than what the files say.
 */
export async function readFiles(options: FilesToRead): Promise<Snapshot> {
  const { paths, environment, devAllowLoopback } = options;
  const parts = await Promise.all(paths.map(readPart));
  const contents = {
    files: parts.flatMap(({ files }) => files),
    secretFiles: new Map(parts.flatMap(({ secretFiles }) => [...secretFiles])),
  };
  const candidates = readCandidates(contents, readOverrides(environment));
  const assumed = { services: 'assumed', secrets: 'assumed' } as const;
  const configuration = new FileConfiguration({ devAllowLoopback, ...assumed });
  const { served, problems } = configuration.update(candidates);
  if (problems.length > 0) {
    const lines = problems.map(formatProblem);
    throw new CommandFailure(`the configuration has problems\n${lines.join('\n')}`);
  }
  if (served !== undefined && served.routeCount > 0) return served.snapshot;
  throw new CommandFailure(`there is no route in ${paths.join(', ')}`);
}

async function readPart(path: string): Promise<Contents> {
  try {
    return await readContents(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}
