import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
// Reports if no Redis can run, and fails then in CI.
import '../support/redis/describe-with-redis.ts';
import { noRedisReason } from '../support/redis/no-redis-reason.ts';
import { startRedisCluster } from '../support/redis/start-redis-cluster.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { storesIn } from './redis-stores-under-test.ts';
import type { StoreImplementation, StoresUnderTest } from './store-implementation.ts';

const IN_REDIS = { manyWrites: 1000, propertyRuns: 20 };

/** Every implementation of the stores. All of them must pass the suites beside this file. */
export const STORE_IMPLEMENTATIONS: readonly StoreImplementation[] = [
  {
    name: 'memory',
    create: () => Promise.resolve(memoryStores()),
    manyWrites: 100_001,
    propertyRuns: 50,
  },
  ...(noRedisReason === undefined
    ? [
        { name: 'redis', create: storesIn(() => startRedis()), ...IN_REDIS },
        { name: 'redis cluster', create: storesIn(() => startRedisCluster()), ...IN_REDIS },
      ]
    : []),
];

/**
 * Distance to the end of a lifetime at which tests look: short enough to tell it from any other
 * lifetime, and longer than the time between two steps, because real time passes in some stores.
 */
export const MOMENT_SECONDS = 10;

function memoryStores(): StoresUnderTest {
  let time = Date.UTC(2026, 0, 1);
  return {
    stores: createMemoryStores(() => time),
    advance: (seconds) => {
      time += seconds * 1000;
      return Promise.resolve();
    },
    now: () => time,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Results of fifty calls that run at once. */
export function fiftyAtOnce<Result>(call: (index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: 50 }, (_, index) => call(index)));
}
