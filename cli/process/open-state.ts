import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { RedisTarget } from '../../proxy/store/redis/connection/redis-target.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { RedisStateOptions, State } from './open-redis-state.ts';

/** Opens the stores of a proxy: in Redis, as `openRedisState` does, or else in memory. */
export async function openState(
  { redis, logger }: { readonly redis: RedisTarget | undefined; readonly logger: Logger },
  { sealer, metrics }: Pick<RedisStateOptions, 'sealer' | 'metrics'>,
): Promise<State> {
  if (redis === undefined) {
    return { stores: createMemoryStores(), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  // Loaded only where there is a Redis: its client is a tenth of what starts.
  const { openRedisState } = await import('./open-redis-state.ts');
  return openRedisState(redis, { sealer, logger, metrics });
}
