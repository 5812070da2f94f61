import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { hashToken } from '../../proxy/crypto/tokens.ts';
import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { createRedisStores } from '../../proxy/store/redis/stores/redis-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedisCluster, type TestRedisCluster } from '../support/redis/start-redis-cluster.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import {
  A_SIGN_IN_CODE,
  aGrant,
  AN_IDENTITY,
  AN_INTERNAL_TOKEN,
  AN_UPSTREAM_REGISTRATION,
  anAuthorizationCode,
  anInternalTokenKey,
  aRegistrationKey,
  aSignIn,
} from './redis-records.ts';
import { connectionTo, sealerWith } from './redis-stores-under-test.ts';
import { aToken, rotationTo, tokenOf } from './refresh-tokens.ts';
import { fiftyAtOnce } from './stores-under-test.ts';

const LIFE_SECONDS = 600;

const SERVERS = [
  { name: 'a server', start: () => startRedis() },
  { name: 'a cluster', start: () => startRedisCluster() },
];

describeWithRedis.each(SERVERS)('two proxies on $name', ({ start }) => {
  let redis: TestRedis | TestRedisCluster;
  let connections: readonly RedisConnection[];
  let one: Stores;
  let other: Stores;

  /** Fifty calls at once, half of them at each proxy. */
  function overBoth<Result>(
    call: (stores: Stores, index: number) => Promise<Result>,
  ): Promise<Result[]> {
    return fiftyAtOnce((index) => call(index % 2 === 0 ? one : other, index));
  }

  beforeAll(async () => {
    redis = await start();
    const connection = await connectionTo(redis.url);
    const otherConnection = await connectionTo(redis.url);
    connections = [connection, otherConnection];
    one = createRedisStores(connection, sealerWith('a'));
    other = createRedisStores(otherConnection, sealerWith('a'));
  });

  afterAll(async () => {
    for (const connection of connections) await connection[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    const nodes = 'nodes' in redis ? redis.nodes : [redis];
    await Promise.all(nodes.map((node) => node.send('FLUSHALL')));
  });

  test('redeem a code once', async () => {
    await one.authorizationCodes.save(
      hashToken('code'),
      anAuthorizationCode('grant-1'),
      LIFE_SECONDS,
    );
    const outcomes = await overBoth((stores) =>
      stores.authorizationCodes.consume(hashToken('code'), LIFE_SECONDS),
    );
    const kinds = outcomes.map((outcome) => outcome?.kind);
    expect(kinds.filter((kind) => kind === 'consumed')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'reused')).toHaveLength(49);
  });

  test('rotate a refresh token once, and agree on its successor', async () => {
    await one.refreshTokens.save(tokenOf(0), LIFE_SECONDS);
    const outcomes = await overBoth((stores, index) =>
      stores.refreshTokens.rotate(tokenOf(0), rotationTo(`successor-${String(index)}`)),
    );
    const winner = outcomes.findIndex((outcome) => outcome?.kind === 'rotated');
    const sealedSuccessor = `sealed successor-${String(winner)}`;
    const others = outcomes.toSpliced(winner, 1);
    expect(others).toEqual(Array(49).fill({ kind: 'repeated', sealedSuccessor }));
    const found = await overBoth((stores, index) =>
      stores.refreshTokens.stateOf(aToken(`successor-${String(index)}`, 1)),
    );
    expect(found.flatMap((state, index) => (state === null ? [] : [index]))).toEqual([winner]);
  });

  test('use a single-use record once', async () => {
    await one.signInCodes.save(hashToken('code'), A_SIGN_IN_CODE, LIFE_SECONDS);
    const records = await overBoth((stores) => stores.signInCodes.consume(hashToken('code')));
    expect(records.filter((record) => record !== null)).toEqual([A_SIGN_IN_CODE]);
  });

  test('renew a sign-in one at a time', async () => {
    await one.signIns.create(aSignIn('sign-in-1'), LIFE_SECONDS);
    const claims = await overBoth((stores) => stores.signIns.claimRenewal('sign-in-1', 60));
    const kinds = claims.map((claim) => claim?.kind);
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'busy')).toHaveLength(49);
  });

  test('renew an internal token one at a time', async () => {
    const key = anInternalTokenKey('route-1');
    await one.internalTokens.save(key, AN_INTERNAL_TOKEN);
    const claims = await overBoth((stores) => stores.internalTokens.claimRenewal(key, 60));
    const kinds = claims.map((claim) => claim?.kind);
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'busy')).toHaveLength(49);
  });

  test('use one registration at an authorization server', async () => {
    const key = aRegistrationKey('https://as.example.com');
    const kept = await overBoth((stores, index) => {
      const registration = { ...AN_UPSTREAM_REGISTRATION, clientId: `client-${String(index)}` };
      return stores.upstreamRegistrations.save(key, registration, LIFE_SECONDS);
    });
    expect(new Set(kept.map(({ clientId }) => clientId)).size).toBe(1);
  });

  test('lose no entry of a user', async () => {
    const ids = await overBoth(async (stores, index) => {
      const id = `grant-${String(index)}`;
      await stores.grantsOfUsers.keep(AN_IDENTITY, { id }, LIFE_SECONDS);
      return id;
    });
    const listed = await one.grantsOfUsers.list(AN_IDENTITY);
    expect(listed.map(({ id }) => id).sort()).toEqual(ids.sort());
  });

  test('accept an id once', async () => {
    const claims = await overBoth((stores) =>
      stores.replays.claim('client', 'jti-1', LIFE_SECONDS),
    );
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  test('count against one limit', async () => {
    const rate = { limit: 7, windowSeconds: 60 };
    const waits = await overBoth((stores) => stores.rateLimits.countUse('key', rate));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(7);
  });

  // A code is redeemed at one proxy while its second use, at the other, revokes what it gets.
  test('leave no valid token of a grant that one revokes while the other makes it', async () => {
    const ids = await overBoth(async (_, index) => {
      const grantId = `grant-${String(index)}`;
      await Promise.all([
        one.grants.create(aGrant(grantId), LIFE_SECONDS),
        one.refreshTokens.save(aToken('token', 0, grantId), LIFE_SECONDS),
        other.grants.revoke(grantId),
        other.refreshTokens.revokeFamily(grantId),
      ]);
      return grantId;
    });
    for (const grantId of ids) {
      expect(await one.grants.get(grantId)).toBeNull();
      expect(await one.refreshTokens.stateOf(aToken('token', 0, grantId))).toBeNull();
    }
  });
});
