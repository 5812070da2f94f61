import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { hashToken } from '../../proxy/crypto/tokens.ts';
import type { Sealer } from '../../proxy/crypto/sealer.ts';
import type { KeyKind } from '../../proxy/store/redis/records/keys.ts';
import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { RedisSignInStore } from '../../proxy/store/redis/stores/redis-sign-in-store.ts';
import { createRedisStores } from '../../proxy/store/redis/stores/redis-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import {
  A_CONSENT,
  A_PENDING_SIGN_IN,
  aBrowserSession,
  aGrant,
  anAuthorizationCode,
  aSignIn,
} from './redis-records.ts';
import { connectionTo, sealerWith } from './redis-stores-under-test.ts';
import { EXTENDED_KINDS, LIFE_SECONDS, SEALED_KINDS } from './sealed-kinds.ts';

const UNREADABLE = { reason: 'record-unreadable', status: 503 };

let redis: TestRedis;
let connection: RedisConnection;

function storesSealedBy(sealer: Sealer): Stores {
  return createRedisStores(connection, sealer);
}

async function keyOfNext(kind: KeyKind, save: () => Promise<unknown>): Promise<string> {
  const pattern = `${connection.prefix}${kind}:*`;
  const before = JSON.stringify(await redis.send('KEYS', pattern));
  await save();
  const keys = await redis.send('KEYS', pattern);
  const added = Array.isArray(keys) ? keys.map(String).filter((key) => !before.includes(key)) : [];
  if (added.length !== 1 || added[0] === undefined) throw new Error(`made ${added.join()}`);
  return added[0];
}

async function copyRecord(kind: KeyKind, from: string, to: string): Promise<void> {
  if (kind !== 'browser-sessions') {
    await redis.send('COPY', from, to, 'REPLACE');
    return;
  }
  const [record] = [await redis.send('HVALS', from)].flat();
  const [field] = [await redis.send('HKEYS', to)].flat();
  await redis.send('HSET', to, String(field), String(record));
}

describeWithRedis('records in Redis', () => {
  beforeAll(async () => {
    redis = await startRedis();
    connection = await connectionTo(redis.url);
  });

  afterAll(async () => {
    await connection[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    await redis.send('FLUSHALL');
  });

  test.each(SEALED_KINDS)(
    'of kind $kind do not open under a different key',
    async ({ kind, save, read }) => {
      const stores = storesSealedBy(sealerWith('a'));
      const first = await keyOfNext(kind, () => save(stores, 'one', redis.now()));
      const second = await keyOfNext(kind, () => save(stores, 'two', redis.now()));
      await copyRecord(kind, first, second);
      await expect(read(stores, 'two')).rejects.toMatchObject(UNREADABLE);
      expect(await read(stores, 'one')).not.toBeNull();
    },
  );

  test.each(SEALED_KINDS)(
    'of kind $kind can be read while keys are rotated',
    async ({ save, read }) => {
      const [old, both, opener, next] = [
        storesSealedBy(sealerWith('a')),
        storesSealedBy(sealerWith('b', 'a')),
        storesSealedBy(sealerWith('a', 'b')),
        storesSealedBy(sealerWith('b')),
      ];
      await save(old, 'before', redis.now());
      await save(both, 'after', redis.now());
      const written = await read(old, 'before');
      expect(written).not.toBeNull();
      expect(await read(both, 'before')).toEqual(written);
      expect(await read(opener, 'before')).toEqual(written);
      expect(await read(opener, 'after')).not.toBeNull();
      expect(await read(next, 'after')).not.toBeNull();
      await expect(read(next, 'before')).rejects.toMatchObject(UNREADABLE);
    },
  );

  test.each(EXTENDED_KINDS)(
    'of kind $kind do not need the old key once they are extended',
    async (extended) => {
      const { save, read, extend } = extended;
      await save(storesSealedBy(sealerWith('a')), 'one', redis.now());
      await extend(storesSealedBy(sealerWith('b', 'a')), 'one');
      expect(await read(storesSealedBy(sealerWith('b')), 'one')).not.toBeNull();
      redis.advance(LIFE_SECONDS);
      expect(await read(storesSealedBy(sealerWith('b')), 'one')).not.toBeNull();
      // The very end may be a moment away: only the clock of Redis was moved.
      redis.advance(LIFE_SECONDS + 1);
      expect(await read(storesSealedBy(sealerWith('b')), 'one')).toBeNull();
    },
  );

  // The provider does not accept the old refresh token, so losing the new one ends the sign-in.
  test('of a sign-in accept an update while they are sealed again', async () => {
    const both = sealerWith('b', 'a');
    const { signIns } = storesSealedBy(both);
    await storesSealedBy(sealerWith('a')).signIns.create(aSignIn('sign-in-1'), LIFE_SECONDS);
    let isFirst = true;
    const interrupted = new RedisSignInStore(
      {
        prefix: connection.prefix,
        send: (command, ...args) => connection.send(command, ...args),
        run: async (script, keys, args) => {
          if (isFirst) await signIns.extend('sign-in-1', LIFE_SECONDS);
          isFirst = false;
          return connection.run(script, keys, args);
        },
      },
      both,
    );
    const renewed = { ...aSignIn('sign-in-1'), refreshToken: 'the next one' };
    expect(await interrupted.update(renewed, 1)).toBe(2);
    expect(await signIns.get('sign-in-1')).toEqual({ signIn: renewed, version: 2 });
  });

  test.each(SEALED_KINDS)(
    'of kind $kind are not absent for a proxy that lacks the key',
    async ({ save, read }) => {
      await save(storesSealedBy(sealerWith('b')), 'one', redis.now());
      await expect(read(storesSealedBy(sealerWith('a')), 'one')).rejects.toMatchObject(UNREADABLE);
    },
  );

  test('of a browser do not open under a different cookie', async () => {
    const { browserSessions } = storesSealedBy(sealerWith('a'));
    const [one, two] = [hashToken('one'), hashToken('two')];
    const end = redis.now() + LIFE_SECONDS * 1000;
    const key = await keyOfNext('browser-sessions', () =>
      browserSessions.save(one, aBrowserSession('session-1'), end),
    );
    await browserSessions.save(two, aBrowserSession('session-1'), end);
    await redis.send('HSET', key, two, String(await redis.send('HGET', key, one)));
    await expect(browserSessions.get(two)).rejects.toMatchObject(UNREADABLE);
    expect(await browserSessions.get(one)).toEqual(aBrowserSession('session-1'));
  });

  test('are refused if they are not JSON of their kind', async () => {
    const sealer = sealerWith('a');
    const stores = storesSealedBy(sealer);
    const key = await keyOfNext('grant', () => stores.grants.create(aGrant('one'), LIFE_SECONDS));
    const incomplete = { ...aGrant('one'), clientId: undefined };
    for (const text of ['no JSON', 'null', '[]', '{}', JSON.stringify(incomplete)]) {
      await redis.send('SET', key, sealer.seal(text, `redis ${key}`), 'KEEPTTL');
      await expect(stores.grants.get('one')).rejects.toMatchObject(UNREADABLE);
    }
    await redis.send('SET', key, sealer.seal(JSON.stringify(aGrant('one')), `redis ${key}`));
    expect(await stores.grants.get('one')).toEqual(aGrant('one'));
  });

  test('are not used up by a proxy that cannot open them', async () => {
    const withKey = storesSealedBy(sealerWith('b', 'a'));
    const without = storesSealedBy(sealerWith('a'));
    await withKey.pendingSignIns.save(hashToken('state'), A_PENDING_SIGN_IN, LIFE_SECONDS);
    await expect(without.pendingSignIns.consume(hashToken('state'))).rejects.toMatchObject(
      UNREADABLE,
    );
    expect(await withKey.pendingSignIns.consume(hashToken('state'))).toEqual(A_PENDING_SIGN_IN);

    const code = anAuthorizationCode('grant-1');
    await withKey.authorizationCodes.save(hashToken('code'), code, LIFE_SECONDS);
    const redemption = without.authorizationCodes.consume(hashToken('code'), LIFE_SECONDS);
    await expect(redemption).rejects.toMatchObject(UNREADABLE);
    const outcome = await withKey.authorizationCodes.consume(hashToken('code'), LIFE_SECONDS);
    expect(outcome).toEqual({ kind: 'consumed', code });

    await withKey.signIns.create(aSignIn('sign-in-1'), LIFE_SECONDS);
    const claim = without.signIns.claimRenewal('sign-in-1', LIFE_SECONDS);
    await expect(claim).rejects.toMatchObject(UNREADABLE);
    const update = without.signIns.update(aSignIn('sign-in-1'), 1);
    await expect(update).rejects.toMatchObject(UNREADABLE);
    expect(await withKey.signIns.claimRenewal('sign-in-1', LIFE_SECONDS)).toMatchObject({
      kind: 'claimed',
      signIn: aSignIn('sign-in-1'),
      version: 1,
    });
  });

  test('of a consent do not count if they were planted or do not open', async () => {
    const { consents } = storesSealedBy(sealerWith('a'));
    await consents.remember(A_CONSENT, 'metadata-hash', LIFE_SECONDS);
    const [key = ''] = [await redis.send('KEYS', 'gatehouse:consent:*')].flat().map(String);
    await redis.send('SET', key, 'metadata-hash');
    expect(await consents.isRemembered(A_CONSENT, 'metadata-hash')).toBe(false);
    await storesSealedBy(sealerWith('b')).consents.remember(
      A_CONSENT,
      'metadata-hash',
      LIFE_SECONDS,
    );
    expect(await consents.isRemembered(A_CONSENT, 'metadata-hash')).toBe(false);
  });
});
