import type { Cluster, Redis } from 'ioredis';

import type { Logger } from '../../../../shared/telemetry/logger.ts';
import { describeRedisFailure } from './redis-failure.ts';

/** Shortest time between two refreshes of the slot table. */
const REFRESH_INTERVAL_MS = 250;

/**
 * Logs nodes that become unreachable or reachable, and refreshes the slot table when one is lost.
 *
 * Returns the function that refreshes it. Calls `allLost` if no node answers.
 */
export function watchClusterNodes(
  cluster: Cluster,
  logger: Logger,
  allLost: (reason: unknown) => void,
): () => void {
  const unreachable = new Set<string>();
  let lastRefresh = 0;
  const refresh = (): void => {
    const now = performance.now();
    if (now - lastRefresh < REFRESH_INTERVAL_MS) return;
    lastRefresh = now;
    cluster.refreshSlotsCache((error) => {
      const isAnyReady = cluster.nodes().some(({ status }) => status === 'ready');
      if (error != null && !isAnyReady) allLost(error);
    });
  };
  const watch = (node: Redis): void => {
    node.on('ready', () => {
      const name = nameOf(node);
      if (unreachable.delete(name)) logger.info('redis cluster node reachable', { node: name });
    });
  };
  for (const node of cluster.nodes()) watch(node);
  cluster.on('+node', watch);
  cluster.on('-node', (node: Redis) => unreachable.delete(nameOf(node)));
  cluster.on('node error', (error: unknown, name: string) => {
    refresh();
    // The error may be about a node that is reachable again.
    const isBack = cluster.nodes().some((node) => nameOf(node) === name && node.status === 'ready');
    if (isBack || unreachable.has(name)) return;
    unreachable.add(name);
    const reason = describeRedisFailure(error);
    logger.warn('redis cluster node unreachable', { node: name, reason });
  });
  return refresh;
}

function nameOf({ options: { host = '', port = 0 } }: Redis): string {
  return `${host}:${String(port)}`;
}
