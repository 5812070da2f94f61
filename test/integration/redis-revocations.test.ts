import { describe, expect, test } from '@jest/globals';

import { RedisRevocations } from '../../proxy/store/redis/stores/redis-revocations.ts';
import type { Revocation } from '../../proxy/store/revocations.ts';
import { eventually } from '../support/eventually.ts';
import { connected } from '../support/redis/connected.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import type { RecordingLogger } from '../support/redis/recording-logger.ts';
import { startRedisCluster } from '../support/redis/start-redis-cluster.ts';
import { startRedisSentinel } from '../support/redis/start-redis-sentinel.ts';
import { startRedis } from '../support/redis/start-redis.ts';

const CHANNEL = 'gatehouse:revocations';
const GRANT: Revocation = { kind: 'grant', grantId: 'grant-1' };
const MISSED: Revocation = { kind: 'missed' };

interface Proxy extends AsyncDisposable {
  readonly revocations: RedisRevocations;
  readonly heard: readonly Revocation[];
  readonly logger: RecordingLogger;
}

async function startProxy(url: string): Promise<Proxy> {
  const { connection, logger } = await connected(url);
  const revocations = new RedisRevocations(connection);
  const heard: Revocation[] = [];
  revocations.subscribe((revocation) => heard.push(revocation));
  return {
    revocations,
    heard,
    logger,
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Publishes on one proxy until the other receives it; then both have subscribed. */
async function meet(one: Proxy, other: Proxy): Promise<void> {
  const first: Revocation = { kind: 'token', tokenId: 'first' };
  await eventually('the other proxy receives it', async () => {
    await one.revocations.publish(first);
    return other.heard.some(({ kind }) => kind === 'token');
  });
}

function has({ heard }: Proxy, { kind }: Revocation): () => boolean {
  return () => heard.some((each) => each.kind === kind);
}

describeWithRedis('revocations in Redis', () => {
  describe.each([
    { mode: 'one server', start: startRedis },
    { mode: 'Sentinel', start: startRedisSentinel },
    { mode: 'a Cluster', start: startRedisCluster },
  ])('with $mode', ({ start }) => {
    test('reach other proxies, and their own proxy once', async () => {
      await using redis = await start();
      await using one = await startProxy(redis.url);
      await using other = await startProxy(redis.url);
      await meet(one, other);
      await meet(other, one);
      await one.revocations.publish(GRANT);
      await eventually('the other proxy receives it', has(other, GRANT));
      // Messages arrive in order, so the first proxy's own message would have come before this one.
      await other.revocations.publish({ kind: 'session', sessionId: 's' });
      await eventually(
        'the first proxy receives it',
        has(one, { kind: 'session', sessionId: 's' }),
      );
      expect(one.heard.filter(({ kind }) => kind === 'grant')).toEqual([GRANT]);
      expect(other.heard).not.toContainEqual(MISSED);
    });
  });

  test('count as missed if only the subscription is lost', async () => {
    await using redis = await startRedis();
    await using one = await startProxy(redis.url);
    await using other = await startProxy(redis.url);
    await meet(one, other);
    await redis.send('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually('it counts as missed at once, and again when the subscription is back', () => {
      return other.heard.filter(({ kind }) => kind === 'missed').length === 2;
    });
    await one.revocations.publish(GRANT);
    await eventually('the other proxy receives messages again', has(other, GRANT));
    expect(other.logger.messages('warn')).toEqual(['redis subscription lost']);
  });

  test('count as missed when Redis is back, and not while it is down', async () => {
    await using redis = await startRedis();
    await using one = await startProxy(redis.url);
    await using other = await startProxy(redis.url);
    await meet(one, other);
    await redis.stop();
    await eventually('both notice the loss', () => {
      const warned = [one, other].map(({ logger }) => logger.messages('warn'));
      return warned.every(
        (messages) =>
          messages.includes('redis unreachable') && messages.includes('redis subscription lost'),
      );
    });
    await expect(one.revocations.publish(GRANT)).rejects.toThrow('Redis is unreachable');
    expect(one.heard).toContainEqual(GRANT);
    expect(other.heard).not.toContainEqual(MISSED);
    await redis.start();
    await eventually('missed', has(other, MISSED));
  });

  test.each([
    'garbage',
    '[]',
    'null',
    '{"publisher":"x"}',
    '{"publisher":"x","revocation":{"kind":"grant"}}',
    '{"publisher":"x","revocation":{"kind":"grant","grantId":7}}',
    '{"publisher":"x","revocation":{"kind":"grant","grantId":"g","more":1}}',
    '{"publisher":"x","revocation":{"kind":"unheard-of"}}',
    '{"publisher":"x","more":1,"revocation":{"kind":"missed"}}',
  ])('are not accepted from the malformed message %s', async (garbage) => {
    await using redis = await startRedis();
    await using one = await startProxy(redis.url);
    await eventually('a warning', async () => {
      await redis.send('PUBLISH', CHANNEL, garbage);
      return one.logger.messages('warn').includes('redis message is malformed');
    });
    expect(one.heard).toEqual([]);
  });

  test('reach this process although a listener fails on a revocation of another proxy', async () => {
    await using redis = await startRedis();
    await using one = await startProxy(redis.url);
    await using other = await startProxy(redis.url);
    other.revocations.subscribe(() => {
      throw new Error('a bug');
    });
    await meet(one, other);
    expect(other.logger.messages('error')).toContain('revocation handler failed');
  });
});
