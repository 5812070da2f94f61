import { expect, test } from '@jest/globals';

import type { RedisScript } from '../../proxy/store/redis/connection/redis-commands.ts';
import { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { parseRedisUrl } from '../../proxy/store/redis/connection/redis-url.ts';
import { StoreUnavailableError } from '../../proxy/store/store-unavailable-error.ts';
import { eventually, HANG_GUARD_MS } from '../support/eventually.ts';
import { connected } from '../support/redis/connected.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { createRecordingLogger } from '../support/redis/recording-logger.ts';
import { startRedisCluster } from '../support/redis/start-redis-cluster.ts';
import { startRedisSentinel } from '../support/redis/start-redis-sentinel.ts';
import { startRedis } from '../support/redis/start-redis.ts';

const KEY = 'gatehouse:{counter}';
const INCREMENT: RedisScript = { lua: "return redis.call('INCR', KEYS[1])", keyCount: 1 };
const SECRET = 'a-value-that-nobody-may-see';

function works(connection: RedisConnection): () => Promise<boolean> {
  return async () => {
    try {
      await connection.run(INCREMENT, [KEY], []);
      return true;
    } catch {
      return false;
    }
  };
}

function fails(connection: RedisConnection): () => Promise<boolean> {
  return async () => !(await works(connection)());
}

async function expectCommands(connection: RedisConnection): Promise<void> {
  await connection.send('SET', 'gatehouse:a', 'b', 'PX', 60_000);
  expect(await connection.send('GET', 'gatehouse:a')).toBe('b');
  expect(await connection.send('GET', 'gatehouse:none')).toBeNull();
  expect(await connection.run(INCREMENT, [KEY], [])).toBe(1);
  expect(await connection.run(INCREMENT, [KEY], [])).toBe(2);
}

async function expectMessages(connection: RedisConnection): Promise<void> {
  const heard: string[] = [];
  await using subscription = connection.subscribe('gatehouse:channel', {
    message: (text) => heard.push(text),
    lost: () => undefined,
    restored: () => undefined,
  });
  expect(subscription).toBeDefined();
  await eventually('a message arrives', async () => {
    await connection.send('PUBLISH', 'gatehouse:channel', 'hello');
    return heard.includes('hello');
  });
}

describeWithRedis('a connection to Redis', () => {
  test('runs commands, scripts and subscriptions', async () => {
    await using redis = await startRedis();
    await using client = await connected(redis.url);
    await expectCommands(client.connection);
    await expectMessages(client.connection);
  });

  test('speaks TLS with a client certificate, as an ACL user with few rights', async () => {
    await using redis = await startRedis({
      tls: true,
      clientCertificates: true,
      user: {
        name: 'gate@house',
        password: 'p@ss:w/rd?#',
        rules: '~gatehouse:* &gatehouse:* -@all +@read +@write +@pubsub +@scripting +@connection',
      },
    });
    await using client = await connected(redis.url);
    await expectCommands(client.connection);
    await expectMessages(client.connection);
    await expect(client.connection.send('GET', `other:${SECRET}`)).rejects.toThrow('NOPERM');
  });

  test('uses the database of the URL', async () => {
    await using redis = await startRedis();
    await using client = await connected(`${redis.url}/3`);
    await client.connection.send('SET', 'gatehouse:a', 'b');
    expect(await redis.send('GET', 'gatehouse:a')).toBeNull();
    expect(await redis.send('INFO', 'keyspace')).toContain('db3:keys=1');
  });

  test('reports a database that does not exist', async () => {
    await using redis = await startRedis();
    const logger = createRecordingLogger();
    await using connection = new RedisConnection(parseRedisUrl(`${redis.url}/99`), { logger });
    await eventually('it is logged', () => logger.records.length > 0);
    expect(logger.records).toEqual([
      {
        level: 'warn',
        message: 'redis unreachable',
        fields: {
          redis: `127.0.0.1:${String(redis.port)}`,
          reason: 'ERR: it has no such database',
        },
      },
    ]);
    await expect(connection.send('PING')).rejects.toThrow(StoreUnavailableError);
  });

  test('fails at once while Redis is unreachable, and reconnects by itself', async () => {
    await using redis = await startRedis();
    await using client = await connected(redis.url);
    const { connection, logger } = client;
    await connection.run(INCREMENT, [KEY], []);
    await redis.stop();
    await eventually('commands fail', fails(connection));
    const refusal = connection.send('GET', KEY);
    await expect(refusal).rejects.toThrow(StoreUnavailableError);
    await expect(refusal).rejects.toMatchObject({ status: 503, reason: 'store-unavailable' });
    await redis.start();
    // The new server has never seen the script.
    await eventually('a script runs', works(connection));
    expect(logger.messages('warn')).toEqual(['redis unreachable']);
    expect(logger.messages('info')).toEqual(['redis reachable', 'redis reachable']);
  });

  test('times out commands that a frozen Redis does not answer, and reconnects', async () => {
    await using redis = await startRedis();
    await using client = await connected(redis.url);
    const { connection } = client;
    redis.freeze();
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, () => connection.send('GET', KEY)),
    );
    for (const each of all) {
      expect(each).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailableError' } });
    }
    // These fail at once, and do not wait for the timeout again.
    await expect(connection.send('GET', KEY)).rejects.toThrow(/unreachable|connection is lost/);
    redis.thaw();
    await eventually('a script runs', works(connection));
  });

  test('connects to a Redis that starts later', async () => {
    await using redis = await startRedis();
    await redis.stop();
    const logger = createRecordingLogger();
    await using connection = new RedisConnection(parseRedisUrl(redis.url), { logger });
    expect(await connection.waitUntilReady(1)).toBe(false);
    await redis.start();
    expect(await connection.waitUntilReady(HANG_GUARD_MS)).toBe(true);
  });

  test('says how each command ended, and a script that Redis has not seen yet is no failure', async () => {
    await using redis = await startRedis();
    const outcomes: string[] = [];
    const observer = {
      observe(outcome: string, seconds: number) {
        outcomes.push(outcome);
        expect(seconds).toBeGreaterThanOrEqual(0);
      },
    };
    await using connection = new RedisConnection(parseRedisUrl(redis.url), {
      logger: createRecordingLogger(),
      observer,
    });
    await connection.send('PING').catch(() => undefined);
    expect(connection.isReachable).toBe(false);
    expect(await connection.waitUntilReady(HANG_GUARD_MS)).toBe(true);
    expect(connection.isReachable).toBe(true);
    await connection.send('PING');
    await connection.run(INCREMENT, [KEY], []);
    await connection.send('NOSUCHCOMMAND').catch(() => undefined);
    expect(outcomes).toEqual(['failed', 'ok', 'ok', 'failed']);
  });

  test('reports a wrong password without showing it', async () => {
    await using redis = await startRedis({ password: 'right' });
    const logger = createRecordingLogger();
    const url = `redis://:${SECRET}@127.0.0.1:${String(redis.port)}`;
    await using connection = new RedisConnection(parseRedisUrl(url), { logger });
    await eventually('it is logged', () => logger.records.length > 0);
    expect(logger.records[0]?.fields).toMatchObject({
      reason: 'WRONGPASS: user or password is wrong',
    });
    const error = await connection.send('PING').catch((reason: unknown) => reason);
    expect(String(error)).toContain('WRONGPASS');
    expect(JSON.stringify(logger.records) + String(error)).not.toContain(SECRET);
  });

  test.each([
    ['a wrong command', 'NOSUCHCOMMAND', [SECRET]],
    ['a value of the wrong type', 'INCR', [SECRET]],
    ['a failing script', 'EVAL', [`error('${SECRET}')`, 0]],
    ['a script that refuses', 'EVAL', [`return redis.error_reply('${SECRET}')`, 0]],
  ] as const)('hides the arguments of %s', async (_what, command, args) => {
    await using redis = await startRedis();
    await using client = await connected(redis.url);
    await client.connection.send('SET', SECRET, SECRET);
    const error: unknown = await client.connection.send(command, ...args).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect((error as StoreUnavailableError).cause).toBeUndefined();
    expect(JSON.stringify(error) + String(error)).not.toContain(SECRET);
    expect(JSON.stringify(client.logger.records)).not.toContain(SECRET);
  });

  test('warns if Redis evicts keys', async () => {
    await using redis = await startRedis({
      configuration: ['maxmemory 100mb', 'maxmemory-policy allkeys-lru'],
    });
    await using client = await connected(redis.url);
    await eventually('it is logged', () => client.logger.messages('warn').length > 0);
    expect(client.logger.records).toContainEqual(
      expect.objectContaining({
        message: 'redis evicts keys',
        fields: expect.objectContaining({ policy: 'allkeys-lru' }),
      }),
    );
  });

  test('reports that Redis is out of memory', async () => {
    await using redis = await startRedis({ configuration: ['maxmemory 1'] });
    await using client = await connected(redis.url);
    await expect(client.connection.send('SET', 'gatehouse:a', 'b')).rejects.toThrow('OOM');
  });
});

describeWithRedis('a connection to a Redis Cluster', () => {
  test('runs commands, scripts and subscriptions over TLS', async () => {
    await using cluster = await startRedisCluster({ tls: true, password: 'secret' });
    await using client = await connected(cluster.url);
    await expectCommands(client.connection);
    await expectMessages(client.connection);
    const writes = Array.from({ length: 50 }, (_, index) =>
      client.connection.send('SET', `gatehouse:${String(index)}`, index),
    );
    expect(new Set(await Promise.all(writes))).toEqual(new Set(['OK']));
    await expect(client.connection.send('MGET', 'gatehouse:1', 'gatehouse:2')).rejects.toThrow(
      'CROSSSLOT',
    );
  });

  test('reconnects after all nodes were unreachable, and after one was', async () => {
    await using cluster = await startRedisCluster();
    await using client = await connected(cluster.url);
    const { connection, logger } = client;
    await cluster.stop();
    await eventually('commands fail', fails(connection));
    await cluster.start();
    await eventually('a script runs', works(connection));
    for (const node of cluster.nodes) await node.stop();
    const [first, ...others] = cluster.nodes;
    for (const node of others) await node.start();
    await first?.start();
    cluster.advance(5);
    await eventually('a script runs again', works(connection));
    expect(JSON.stringify(logger.records)).not.toContain(KEY);
  });
});

describeWithRedis('a connection with a longer timeout', () => {
  test('waits for answers as long as its timeout, and longer than other connections', async () => {
    await using redis = await startRedis();
    await using requests = await connected(redis.url);
    const target = { ...parseRedisUrl(redis.url), commandTimeoutMs: 20_000 };
    const logger = createRecordingLogger();
    await using patient = new RedisConnection(target, { logger });
    await patient.waitUntilReady(HANG_GUARD_MS);
    redis.freeze();
    const answer = patient.send('PING');
    const refused = await requests.connection.send('PING').catch((error: unknown) => error);
    redis.thaw();

    expect(refused).toBeInstanceOf(StoreUnavailableError);
    expect(await answer).toBe('PONG');
    expect(logger.messages('warn')).toEqual([]);
  });
});

describeWithRedis('a connection through Redis Sentinel', () => {
  test('follows a failover', async () => {
    await using sentinel = await startRedisSentinel({
      user: { name: 'gatehouse', password: 'secret' },
      sentinelUser: { name: 'watcher', password: 'other' },
    });
    await using client = await connected(sentinel.url);
    await expectCommands(client.connection);
    await expectMessages(client.connection);
    const old = await sentinel.master();
    await sentinel.failOver();
    await eventually('a script runs', works(client.connection));
    await old.start();
    await expectMessages(client.connection);
  });
});
