import type { Snapshot } from '../../shared/snapshot/snapshot.ts';
import type { CommandStreams } from '../command.ts';
import type { ClusterPart } from './read-cluster.ts';
import { readFiles } from './read-files.ts';
import type { ClusterSource, RouteSource } from './route-source.ts';

/** What matters for the snapshot besides its source. The namespace is that of Routes in a cluster. */
interface SnapshotOptions extends Pick<ClusterPart, 'namespace' | 'readsIssuer'> {
  readonly devAllowLoopback: boolean;
}

type Streams = Pick<CommandStreams, 'environment' | 'stderr'>;

/** Compiles the routes of a source. What is wrong with Routes of a cluster goes to `stderr`. */
export async function readSnapshot(
  source: RouteSource,
  { environment, stderr }: Streams,
  { devAllowLoopback, ...part }: SnapshotOptions,
): Promise<Snapshot> {
  return source.kind === 'files'
    ? readFiles({ paths: source.paths, environment, devAllowLoopback })
    : snapshotOfCluster(source, part, { stderr });
}

async function snapshotOfCluster(
  { api, settings, gatewayClass }: ClusterSource,
  part: Pick<ClusterPart, 'namespace' | 'readsIssuer'>,
  { stderr }: Pick<Streams, 'stderr'>,
): Promise<Snapshot> {
  const { readCluster } = await import('./read-cluster.ts');
  const { snapshot, problems } = await readCluster(api, { settings, gatewayClass, ...part });
  stderr.write(problems.map((problem) => `gatehouse: ${problem}\n`).join(''));
  return snapshot;
}
