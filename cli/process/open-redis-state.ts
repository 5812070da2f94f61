import type { Sealer } from '../../proxy/crypto/sealer.ts';
import { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { formatTarget, type RedisTarget } from '../../proxy/store/redis/connection/redis-target.ts';
import { createRedisStores } from '../../proxy/store/redis/stores/redis-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import type { RedisMetrics } from '../../proxy/telemetry/metrics/redis-metrics.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { CommandFailure } from '../command-failure.ts';

/** How long a start waits for Redis. Only requests need it. */
const PATIENCE_MS = 2000;

/** The stores of a proxy. */
export interface State extends AsyncDisposable {
  readonly stores: Stores;
}

/** What the stores in Redis use. */
export interface RedisStateOptions {
  readonly sealer: Sealer;
  readonly logger: Logger;
  readonly metrics: RedisMetrics;
}

/**
 * Opens the stores in Redis.
 *
 * A Redis that cannot be reached may return later. Throws `CommandFailure` if Redis refuses this proxy: a
 * deployment with a wrong password must not replace one that works.
 */
export async function openRedisState(
  redis: RedisTarget,
  { sealer, logger, metrics }: RedisStateOptions,
): Promise<State> {
  const connection = new RedisConnection(redis, { logger, observer: metrics });
  metrics.show(() => connection.isReachable);
  const isReady = await connection.waitUntilReady(PATIENCE_MS);
  const refusal = await connection.refusal();
  if (refusal !== undefined) {
    await connection[Symbol.asyncDispose]();
    throw new CommandFailure(`Redis at ${formatTarget(redis)} cannot be used: ${refusal}`);
  }
  if (!isReady) {
    logger.warn('started without redis', { consequence: 'requests that need it get 503' });
  }
  return {
    stores: createRedisStores(connection, sealer),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}
