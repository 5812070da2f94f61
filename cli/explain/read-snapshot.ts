import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import { CommandFailure } from '../command-failure.ts';
import type { CommandStreams } from '../command.ts';
import type { ClusterPart } from './read-cluster.ts';
import { readFiles } from './read-files.ts';
import type { ClusterFlags, RouteSource } from './route-source.ts';

/** What matters for the snapshot besides its source. */
interface SnapshotOptions extends Pick<ClusterPart, 'readsIssuer'> {
  readonly devAllowLoopback: boolean;
}

type Streams = Pick<CommandStreams, 'environment' | 'stderr'>;

/** Compiles the routes of a source. What is wrong with Routes of a cluster goes to `stderr`. */
export async function readSnapshot(
  source: RouteSource,
  { environment, stderr }: Streams,
  { devAllowLoopback, readsIssuer }: SnapshotOptions,
): Promise<Snapshot> {
  return source.kind === 'files'
    ? readFiles({ paths: source.paths, environment, devAllowLoopback })
    : snapshotOfCluster({ ...source.cluster, readsIssuer }, { environment, stderr });
}

async function snapshotOfCluster(
  { kubeconfig, ...part }: ClusterFlags & Pick<ClusterPart, 'readsIssuer'>,
  { environment, stderr }: Streams,
): Promise<Snapshot> {
  const [{ readCluster }, { connectToCluster }] = await Promise.all([
    import('./read-cluster.ts'),
    import('../process/connect-to-cluster.ts'),
  ]);
  const { api } = await connectToCluster(kubeconfig, environment).catch(orFiles);
  const { snapshot, problems } = await readCluster(api, part);
  stderr.write(problems.map((problem) => `gatehouse: ${problem}\n`).join(''));
  return snapshot;
}

/** Who wants to read files may have forgotten the flag for them. */
function orFiles(error: unknown): never {
  if (!(error instanceof CommandFailure)) throw error;
  throw new CommandFailure(`${error.message}; to read files, give --file`, { cause: error });
}
