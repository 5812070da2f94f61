import { afterAll } from '@jest/globals';

import { Sealer } from '../../proxy/crypto/sealer.ts';
import { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { createRedisStores } from '../../proxy/store/redis/stores/redis-stores.ts';
import { parseRedisUrl } from '../../proxy/store/redis/connection/redis-url.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { HANG_GUARD_MS } from '../support/eventually.ts';
import type { TestRedisCluster } from '../support/redis/start-redis-cluster.ts';
import type { TestRedis } from '../support/redis/start-redis.ts';
import type { StoresUnderTest } from './store-implementation.ts';

/** Redis removes a key in the millisecond after its lifetime. */
const END_SECONDS = 0.001;

const SILENT: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Makes a sealer with a key for every letter; the first one seals. */
export function sealerWith(first: string, ...others: readonly string[]): Sealer {
  const keyOf = (name: string): { secret: Buffer } => ({ secret: Buffer.alloc(32, name) });
  return new Sealer([keyOf(first), ...others.map(keyOf)]);
}

/** Opens a working connection, which waits for a busy machine. */
export async function connectionTo(url: string): Promise<RedisConnection> {
  const target = { ...parseRedisUrl(url), commandTimeoutMs: HANG_GUARD_MS };
  const connection = new RedisConnection(target, { logger: SILENT });
  if (!(await connection.waitUntilReady(HANG_GUARD_MS))) throw new Error('Redis is unreachable');
  return connection;
}

/** Makes empty stores in a Redis that runs for all tests of a file. */
export function storesIn(
  start: () => Promise<TestRedis | TestRedisCluster>,
): () => Promise<StoresUnderTest> {
  let running: Promise<Running> | undefined;
  afterAll(async () => {
    await (await running)?.[Symbol.asyncDispose]();
  });
  return async () => {
    running ??= run(start);
    const { redis, connection } = await running;
    const nodes = 'nodes' in redis ? redis.nodes : [redis];
    await Promise.all(nodes.map((node) => node.send('FLUSHALL')));
    return {
      stores: createRedisStores(connection, sealerWith('a')),
      advance: (seconds) => {
        redis.advance(seconds + END_SECONDS);
        return Promise.resolve();
      },
      now: () => redis.now(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  };
}

interface Running extends AsyncDisposable {
  readonly redis: TestRedis | TestRedisCluster;
  readonly connection: RedisConnection;
}

async function run(start: () => Promise<TestRedis | TestRedisCluster>): Promise<Running> {
  const redis = await start();
  const connection = await connectionTo(redis.url);
  return {
    redis,
    connection,
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}
