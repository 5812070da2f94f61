import { Cluster, type Redis } from 'ioredis';

import { inTime, monotonicClock } from '../../../../shared/runtime/clock.ts';
import type { Logger } from '../../../../shared/telemetry/logger.ts';
import { ClusterNodes } from './cluster-nodes.ts';
import type { RedisClient } from './redis-client.ts';
import { parseRedisInfo } from './redis-info.ts';
import { sharedOptions } from './redis-options.ts';
import type { ClusterTarget } from './redis-target.ts';
import { ReplyError } from './reply-error.ts';

const OPEN_TIMEOUT_MS = 5000;
const SLOTS_TIMEOUT_MS = 1000;
const FIRST_NODE_DELAY_MS = 50;
const LONGEST_NODE_DELAY_MS = 500;

/** Connects to a Redis Cluster. The client closes when no node answers. */
export async function openClusterClient(
  target: ClusterTarget,
  signal: AbortSignal,
  logger: Logger,
): Promise<RedisClient> {
  const cluster = await createCluster(target);
  const { closed, close } = closerOf(cluster, signal);
  let failure: Error | undefined;
  cluster.on('error', (error: Error) => (failure ??= error));
  cluster.once('end', () => close(failure));
  try {
    signal.throwIfAborted();
    await inTime(monotonicClock, OPEN_TIMEOUT_MS, becomeUsable(cluster));
  } catch (error) {
    close(error);
    throw failure ?? error;
  }
  const nodes = new ClusterNodes(cluster, { logger, onAllLost: close });
  return clientOf(cluster, nodes, closed);
}

function clientOf(cluster: Cluster, nodes: ClusterNodes, closed: Promise<unknown>): RedisClient {
  return {
    closed,
    call: async (command, args) => {
      try {
        return await cluster.call(command, ...args);
      } catch (error) {
        // The node may be gone for good, and a different one may serve its slots by now.
        if (!isReply(error)) nodes.refreshSlots();
        throw error;
      }
    },
    masters: () =>
      cluster.nodes('master').map((node) => ({
        call: (command, args) => node.call(command, ...args),
      })),
    nodes: () => cluster.nodes().map(({ options: { host = '', port = 0 } }) => ({ host, port })),
  };
}

interface Closer {
  /** Resolves with the reason when `close` was called or the signal aborted. */
  readonly closed: Promise<unknown>;
  readonly close: (reason: unknown) => void;
}

/** Does not wait for `end`: ioredis emits none while it reconnects to nodes. */
function closerOf(cluster: Cluster, signal: AbortSignal): Closer {
  const { promise: closed, resolve } = Promise.withResolvers<unknown>();
  const close = (reason: unknown): void => {
    signal.removeEventListener('abort', abort);
    cluster.disconnect();
    resolve(reason);
  };
  const abort = (): void => close(signal.reason);
  signal.addEventListener('abort', abort);
  return { closed, close };
}

async function createCluster(target: ClusterTarget): Promise<Cluster> {
  return new Cluster([...target.nodes], {
    redisOptions: { ...(await sharedOptions(target)), replyMapping: 'legacy' },
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    // Nodes are dialled by name, because certificates are for names.
    dnsLookup: (host, done) => done(null, host),
    slotsRefreshTimeout: SLOTS_TIMEOUT_MS,
    // ioredis reconnects to a single node that is lost. If all are lost, the caller opens a new
    // client, because they may return at different addresses.
    clusterNodeRetryStrategy: (times) =>
      Math.min(FIRST_NODE_DELAY_MS * 2 ** (times - 1), LONGEST_NODE_DELAY_MS),
    clusterRetryStrategy: () => null,
    // After a connection broke, its last command may have had its effect: it is never sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
  });
}

async function becomeUsable(cluster: Cluster): Promise<void> {
  await cluster.connect();
  // All at once: ioredis would connect to a node with the first command for it, and refuse other
  // commands until then.
  const connecting = cluster.nodes('master').map((node) => becomeConnected(node));
  // If one is unreachable, the others are still usable.
  await Promise.any(connecting);
  await Promise.allSettled(connecting);
  const info = parseRedisInfo(await cluster.cluster('INFO'));
  if (info.get('cluster_state') !== 'ok') throw new ReplyError('CLUSTERDOWN');
}

async function becomeConnected(node: Redis): Promise<void> {
  if (node.status === 'ready') return;
  await node.connect();
}

function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
