import type { Cluster, Redis } from 'ioredis';

import type { Logger } from '../../../../shared/telemetry/logger.ts';
import { describeRedisFailure } from './redis-failure.ts';

/** Shortest time between two refreshes of the slot table. */
const REFRESH_INTERVAL_MS = 250;

/** Options of `ClusterNodes`. */
export interface ClusterNodesOptions {
  readonly logger: Logger;
  /** Called with the reason when no node answers. */
  readonly onAllLost: (reason: unknown) => void;
}

/**
 * The nodes of a Redis Cluster: logs those that become unreachable or reachable, and refreshes the
 * slot table when one is lost.
 */
export class ClusterNodes {
  readonly #cluster: Cluster;
  readonly #options: ClusterNodesOptions;
  /** Names of the nodes that were logged as unreachable. */
  readonly #unreachable = new Set<string>();
  #refreshedAt = -Infinity;

  constructor(cluster: Cluster, options: ClusterNodesOptions) {
    this.#cluster = cluster;
    this.#options = options;
    for (const node of cluster.nodes()) this.#watch(node);
    cluster.on('+node', (node: Redis) => this.#watch(node));
    cluster.on('-node', (node: Redis) => this.#unreachable.delete(nameOf(node)));
    cluster.on('node error', (error: unknown, name: string) => this.#failed(name, error));
  }

  /** Refreshes the slot table, unless that was done a moment ago. */
  refreshSlots(): void {
    const now = performance.now();
    if (now - this.#refreshedAt < REFRESH_INTERVAL_MS) return;
    this.#refreshedAt = now;
    this.#cluster.refreshSlotsCache((error) => {
      const isAnyReady = this.#cluster.nodes().some(isReady);
      if (error != null && !isAnyReady) this.#options.onAllLost(error);
    });
  }

  #watch(node: Redis): void {
    const name = nameOf(node);
    node.on('ready', () => {
      if (!this.#unreachable.delete(name)) return;
      this.#options.logger.info('redis cluster node reachable', { node: name });
    });
  }

  #failed(name: string, error: unknown): void {
    this.refreshSlots();
    // The error may be about a node that is reachable again.
    const isBack = this.#cluster.nodes().some((node) => nameOf(node) === name && isReady(node));
    if (isBack || this.#unreachable.has(name)) return;
    this.#unreachable.add(name);
    const reason = describeRedisFailure(error);
    this.#options.logger.warn('redis cluster node unreachable', { node: name, reason });
  }
}

function isReady({ status }: Redis): boolean {
  return status === 'ready';
}

function nameOf({ options: { host = '', port = 0 } }: Redis): string {
  return `${host}:${String(port)}`;
}
