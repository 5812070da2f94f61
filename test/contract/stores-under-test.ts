import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
// Says so where no Redis can run, and fails in CI.
import '../support/redis/describe-with-redis.ts';
import { noRedisReason } from '../support/redis/no-redis-reason.ts';
import { startRedisCluster } from '../support/redis/start-redis-cluster.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { storesIn } from './redis-stores-under-test.ts';
import type { StoreImplementation, StoresUnderTest } from './store-implementation.ts';

const IN_REDIS = { manyWrites: 1000, propertyRuns: 20 };

/** Every implementation of the stores. All pass the suites beside this file. */
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
 * Near enough to the end of a life to tell it from any other, and more than a test takes between
 * two steps: in some implementations real time passes as well.
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
