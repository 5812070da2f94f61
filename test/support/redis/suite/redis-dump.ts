import type { Reply } from '../redis-process.ts';
import type { TestRedis } from '../start-redis.ts';

/** Commands that read a whole value, by its type. */
const READERS: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  string: ['GET'],
  hash: ['HGETALL'],
  set: ['SMEMBERS'],
  zset: ['ZRANGE', '0', '-1'],
  list: ['LRANGE', '0', '-1'],
  stream: ['XRANGE', '-', '+'],
};

/** A key with its whole value. */
export interface RedisEntry {
  readonly key: string;
  readonly values: readonly string[];
}

/** Every key of a Redis with its whole value. A key that expires meanwhile is left out. */
export async function* dumpRedis(redis: TestRedis): AsyncGenerator<RedisEntry> {
  for (const key of await keysOf(redis)) {
    const type = String(await redis.send('TYPE', key));
    if (type === 'none') continue;
    const reader = READERS[type];
    if (reader === undefined) throw new Error(`there is no reader for ${type} values: ${key}`);
    const [command, ...args] = reader;
    yield { key, values: textsOf(await redis.send(command, key, ...args)) };
  }
}

async function keysOf(redis: TestRedis): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    // SCAN replies with a cursor and a list of keys.
    const [next, page] = (await redis.send('SCAN', cursor)) as [string, string[]];
    for (const key of page) keys.add(key);
    cursor = next;
  } while (cursor !== '0');
  return keys;
}

function textsOf(reply: Reply): readonly string[] {
  if (reply === null) return [];
  return Array.isArray(reply) ? (reply as readonly Reply[]).flatMap(textsOf) : [String(reply)];
}
