import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { disposeAfterEach } from '../support/dispose-after-each.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { connectionTo, sealerWith } from './redis-stores-under-test.ts';
import { ID, placed, keeperOn } from './snapshot-keepers.ts';

const THIRTY_DAYS_SECONDS = 30 * 24 * 60 * 60;

describeWithRedis('the last good snapshot of many proxies', () => {
  const keep = disposeAfterEach();
  let redis: TestRedis;
  let connection: RedisConnection;

  beforeAll(async () => {
    redis = await startRedis();
  });
  beforeEach(async () => {
    await redis.send('FLUSHALL');
    connection = keep(await connectionTo(redis.url));
  });
  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
  });

  test('is the newest, whichever proxy saved it', async () => {
    const connections = await Promise.all(Array.from({ length: 5 }, () => connectionTo(redis.url)));
    const keepers = connections.map((each) => keeperOn(each));
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) => placed(2, index + 1)).flatMap((each) =>
        keepers.map(async (keeper) => ({ each, isKept: (await keeper.save(each)) === 'kept' })),
      ),
    );
    const kept = results.filter(({ isKept }) => isKept).map(({ each }) => each.position.sequence);
    const [loaded] = await Promise.all(keepers.map((keeper) => keeper.load()));
    await Promise.all(connections.map((each) => each[Symbol.asyncDispose]()));

    expect(loaded).toEqual(placed(2, 8));
    // Each was kept by one of them at most.
    expect(new Set(kept).size).toBe(kept.length);
  });

  test('is sent to Redis by one proxy, while the others only compare positions', async () => {
    await keeperOn(connection).save(placed(1, 1));
    await redis.send('CONFIG', 'RESETSTAT');
    for (let count = 0; count < 10; count += 1) {
      await keeperOn(connection).save(placed(1, 1));
    }
    const statistics = String(await redis.send('INFO', 'stats'));
    const received = Number(/total_net_input_bytes:(\d+)/.exec(statistics)?.[1]);
    const commands = String(await redis.send('INFO', 'commandstats'));

    expect(received).toBeLessThan(10 * 500);
    expect(commands).not.toContain('cmdstat_hset');
  });

  test('lives for thirty days from the last time a proxy saved it', async () => {
    const keeper = keeperOn(connection);
    await keeper.save(placed(1, 1));
    redis.advance(THIRTY_DAYS_SECONDS - 60);
    expect(await keeper.save(placed(1, 1))).toBe('same');
    redis.advance(THIRTY_DAYS_SECONDS - 60);
    expect(await keeper.load()).toEqual(placed(1, 1));
    redis.advance(120);

    expect(await keeper.load()).toBeUndefined();
    expect(await keeper.save(placed(1, 1))).toBe('kept');
  });

  test('does not live longer because an older one was refused', async () => {
    const keeper = keeperOn(connection);
    await keeper.save(placed(9, 1));
    redis.advance(THIRTY_DAYS_SECONDS - 60);
    expect(await keeper.save(placed(1, 1))).toBe('newer');
    redis.advance(120);

    expect(await keeper.load()).toBeUndefined();
  });

  test('is replaced if no key opens it, whatever position stands beside it', async () => {
    const before = keeperOn(connection);
    await before.save(placed(57, 3));
    const keeper = keeperOn(connection, sealerWith('b'));

    expect(await keeper.save(placed(1, 5))).toBe('kept');
    expect(await keeper.load()).toEqual(placed(1, 5));
  });

  const KEY = `gatehouse:snapshot:{${ID}}`;
  const HIGHEST = '999999999999999.1';

  test.each<[what: string, tamper: () => Promise<unknown>]>([
    ['another position', () => redis.send('HSET', KEY, 'position', HIGHEST)],
    ['a position with too many digits', () => redis.send('HSET', KEY, 'position', `1${HIGHEST}`)],
    [
      'a position and a text',
      () => redis.send('HSET', KEY, 'position', HIGHEST, 'snapshot', 'x'.repeat(100)),
    ],
    [
      'a position without a text',
      async () => {
        await redis.send('HDEL', KEY, 'snapshot');
        await redis.send('HSET', KEY, 'position', HIGHEST);
      },
    ],
    ['a value that is not a hash', () => redis.send('SET', KEY, 'x')],
  ])('can still be replaced after someone wrote %s', async (_what, tamper) => {
    const keeper = keeperOn(connection);
    await keeper.save(placed(57, 3));
    await tamper();

    expect(await keeper.save(placed(57, 4))).toBe('kept');
    expect(await keeper.load()).toEqual(placed(57, 4));
    await tamper();
    await keeper.save(placed(57, 4));
    await keeper.save(placed(57, 4));
    expect(await keeper.load()).toEqual(placed(57, 4));
    expect(String(await redis.send('HGET', KEY, 'position'))).toBe('57.4');
  });

  test('is restored when a proxy saves it again', async () => {
    const keeper = keeperOn(connection);
    await keeper.save(placed(1, 1));
    await redis.send('HSET', KEY, 'snapshot', 'x'.repeat(100));
    await keeper.save(placed(1, 1));
    await keeper.save(placed(1, 1));

    expect(await keeper.load()).toEqual(placed(1, 1));
  });

  test('does not open at a different place', async () => {
    await keeperOn(connection).save(placed(1, 1));
    const [from, to] = [ID, 'other/gatehouse'].map((id) => `gatehouse:snapshot:{${id}}`);
    await redis.send('RENAME', String(from), String(to));
    const other = keeperOn(connection, sealerWith('a'), 'other/gatehouse');

    await expect(other.load()).rejects.toThrow('does not open');
  });
});
