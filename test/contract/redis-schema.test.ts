import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { hashToken } from '../../proxy/crypto/tokens.ts';
import { KEY_KINDS } from '../../proxy/store/redis/records/keys.ts';
import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { RedisInventory } from '../../proxy/store/redis/stores/redis-inventory.ts';
import { RedisSnapshotKeeper } from '../../proxy/store/redis/stores/redis-snapshot-keeper.ts';
import { createRedisStores } from '../../proxy/store/redis/stores/redis-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import { snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import { AN_IDENTITY_PROVIDER } from '../support/compiled-resources.ts';
import { resourcesOf } from '../support/push/some-resources.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import {
  A_CONNECTION_NEED,
  A_CONSENT,
  A_PENDING_AUTHORIZATION,
  A_PENDING_CONNECTION,
  A_PENDING_SIGN_IN,
  A_SIGN_IN_CODE,
  aBrowserSession,
  aClient,
  aGrant,
  AN_IDENTITY,
  AN_INTERNAL_TOKEN,
  AN_UPSTREAM_REGISTRATION,
  anAuthorizationCode,
  anInternalTokenKey,
  aRegistrationKey,
  aSession,
  aSignIn,
} from './redis-records.ts';
import { connectionTo, sealerWith } from './redis-stores-under-test.ts';
import { rotationTo, tokenOf } from './refresh-tokens.ts';

const SCHEMA = join(import.meta.dirname, '../../proxy/store/SCHEMA.md');
const DOCUMENTATION = join(import.meta.dirname, '../../docs/redis.md');
const LIFE_SECONDS = 600;
const NO_EXPIRY = -1;

/** A row of the table of keys. */
interface Row {
  readonly kind: string;
  readonly type: string;
}

/** The key of every row is `kind:{id}`, and the next cell is its Redis type. */
function rowsOfSchema(): readonly Row[] {
  const rows = readFileSync(SCHEMA, 'utf8').matchAll(/^\| `([a-z-]+):\{[^`]+\}` +\| (\w+) +\|/gm);
  return [...rows].map(([, kind = '', type = '']) => ({ kind, type }));
}

/** The rules of the ACL user that docs/redis.md proposes. */
function documentedRules(): string {
  const text = readFileSync(DOCUMENTATION, 'utf8');
  const [, rules = ''] = /user gatehouse on >PASSWORD (.+)/.exec(text) ?? [];
  return rules.trim().replaceAll(/\s+/g, ' ');
}

/** Everything the stores can be asked, so that each kind of key is made, and some are ended. */
async function useEverything(stores: Stores, now: number): Promise<void> {
  await stores.sessions.create(aSession('session-1', now));
  await stores.sessions.get('session-1');
  await stores.sessions.create(aSession('session-2', now));
  await stores.sessions.revoke('session-2');

  await stores.browserSessions.save(
    hashToken('cookie'),
    aBrowserSession('session-1'),
    now + 60_000,
  );
  await stores.browserSessions.get(hashToken('cookie'));
  await stores.browserSessions.save(
    hashToken('other-cookie'),
    aBrowserSession('session-2'),
    now + 60_000,
  );
  await stores.browserSessions.deleteAll('session-2');

  await stores.signIns.create(aSignIn('sign-in-1'), LIFE_SECONDS);
  const claim = await stores.signIns.claimRenewal('sign-in-1', LIFE_SECONDS);
  if (claim?.kind !== 'claimed') throw new Error('not claimed');
  await stores.signIns.extendRenewal('sign-in-1', claim.claimId, LIFE_SECONDS);
  await stores.signIns.update(aSignIn('sign-in-1'), claim.version);
  await stores.signIns.extend('sign-in-1', 2 * LIFE_SECONDS);
  await stores.signIns.releaseRenewal('sign-in-1', claim.claimId, LIFE_SECONDS);
  await stores.signIns.create(aSignIn('sign-in-2'), LIFE_SECONDS);
  await stores.signIns.end('sign-in-2');

  await stores.pendingSignIns.save(hashToken('state'), A_PENDING_SIGN_IN, LIFE_SECONDS);
  await stores.pendingSignIns.peek(hashToken('state'));
  await stores.signInCodes.save(hashToken('code'), A_SIGN_IN_CODE, LIFE_SECONDS);
  await stores.signInCodes.save(hashToken('used'), A_SIGN_IN_CODE, LIFE_SECONDS);
  await stores.signInCodes.consume(hashToken('used'));
  await stores.pendingAuthorizations.save('request', A_PENDING_AUTHORIZATION, LIFE_SECONDS);

  await stores.clients.register(aClient('client-1'), LIFE_SECONDS);
  await stores.clients.keepApproved(aClient('client-1').issuer, 'client-1', 2 * LIFE_SECONDS);

  await stores.authorizationCodes.save(
    hashToken('code'),
    anAuthorizationCode('grant-1'),
    LIFE_SECONDS,
  );
  await stores.authorizationCodes.consume(hashToken('code'), LIFE_SECONDS);

  await stores.grants.create(aGrant('grant-1'), LIFE_SECONDS);
  await stores.grants.use('grant-1', 1, 2 * LIFE_SECONDS);
  await stores.grants.revoke('grant-2');
  await stores.revokedTokens.revoke('token-id', LIFE_SECONDS, 'grant-1');

  await stores.refreshTokens.save(tokenOf(0), LIFE_SECONDS);
  await stores.refreshTokens.stateOf(tokenOf(0));
  await stores.refreshTokens.rotate(tokenOf(0), rotationTo('successor'));
  await stores.refreshTokens.rotate(tokenOf(0), rotationTo('ignored'));
  await stores.refreshTokens.revokeFamily('grant-2');

  await stores.consents.remember(A_CONSENT, 'metadata-hash', LIFE_SECONDS);
  await stores.rateLimits.countUse('register:203.0.113.7', { limit: 1, windowSeconds: 60 });
  await stores.rateLimits.countUse('register:203.0.113.7', { limit: 1, windowSeconds: 60 });
  await stores.replays.claim('client', 'jti', LIFE_SECONDS);
  await stores.revocations.publish({ kind: 'grant', grantId: 'grant-2' });
  await useUpstreamRecords(stores);
}

async function useUpstreamRecords(stores: Stores): Promise<void> {
  const key = anInternalTokenKey('route-1');
  const { internalTokens, connectionNeeds, upstreamRegistrations } = stores;
  await internalTokens.save(key, AN_INTERNAL_TOKEN);
  const claim = await internalTokens.claimRenewal(key, LIFE_SECONDS);
  if (claim?.kind !== 'claimed') throw new Error('not claimed');
  await internalTokens.update(key, AN_INTERNAL_TOKEN, claim.version);
  await internalTokens.releaseRenewal(key, claim.claimId, LIFE_SECONDS);
  await internalTokens.save(anInternalTokenKey('route-2'), AN_INTERNAL_TOKEN);
  await internalTokens.drop(anInternalTokenKey('route-2'));

  await connectionNeeds.put(key, A_CONNECTION_NEED, LIFE_SECONDS);
  await connectionNeeds.claimStepUp(key, LIFE_SECONDS);
  await stores.pendingConnections.save(hashToken('state'), A_PENDING_CONNECTION, LIFE_SECONDS);
  const server = aRegistrationKey('https://as.example.com');
  await upstreamRegistrations.save(server, AN_UPSTREAM_REGISTRATION, LIFE_SECONDS);
  await upstreamRegistrations.extend(server, LIFE_SECONDS);

  const connection = {
    id: 'route-1',
    routeId: 'route-1',
    binding: 'binding-1',
    routeName: 'tools',
  };
  await stores.connectionsOfUsers.keep(AN_IDENTITY, connection, LIFE_SECONDS);
  await stores.grantsOfUsers.keep(AN_IDENTITY, { id: 'grant-1' }, LIFE_SECONDS);
  await stores.signInsOfUsers.keep(AN_IDENTITY, { id: 'sign-in-1' }, LIFE_SECONDS);
  await stores.signInsOfUsers.remove(AN_IDENTITY, ['sign-in-1']);
}

/** Stores a snapshot, and replaces it by a second one. */
async function keepSnapshots(connection: RedisConnection): Promise<void> {
  const keeper = new RedisSnapshotKeeper(connection, {
    id: 'gatehouse-system/gatehouse',
    sealer: sealerWith('a'),
  });
  const snapshot = snapshotOf(resourcesOf(AN_IDENTITY_PROVIDER));
  await keeper.save({ position: { epoch: 1, sequence: 1 }, snapshot });
  await keeper.save({ position: { epoch: 1, sequence: 2 }, snapshot });
  await keeper.load();
}

/** Finds what the stores keep, as the commands of operators do. */
async function takeInventory(connection: RedisConnection): Promise<void> {
  const inventory = new RedisInventory(connection, sealerWith('a'));
  for (const pages of [inventory.signIns(), inventory.clients()]) {
    // Each page is read when it is asked for.
    while ((await pages.next()).done !== true);
  }
  await inventory.grantsOf(AN_IDENTITY);
}

/** Parts of the records above that must not be readable in Redis. */
const NOT_FOR_READERS = [
  'alice',
  'Alice',
  'user-of-the-provider',
  'engineering',
  'provider-refresh-token',
  'a-code-verifier',
  'a-nonce',
  'a-client-state',
  'a-secret-hash',
  'the-client-secret',
  '203.0.113.7',
  'client.example.com',
  'idp.example.com',
  'upstream-access-token',
  'upstream-refresh-token',
  'upstream-client-secret',
  'client-of-the-gateway',
  'as.example.com',
  'upstream.example.com',
];

/** Subscribes, and waits for a message. */
async function heardOverRedis(connection: RedisConnection): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const channel = `${connection.prefix}revocations`;
  const heed = (): void => undefined;
  const message = (): void => {
    resolve(undefined);
  };
  const subscription = connection.subscribe(channel, { message, lost: heed, restored: heed });
  const ringing = setInterval(() => void connection.send('PUBLISH', channel, 'a message'), 20);
  await promise;
  clearInterval(ringing);
  await subscription[Symbol.asyncDispose]();
}

describeWithRedis('the schema of Redis', () => {
  let redis: TestRedis;
  let connection: RedisConnection;
  let keys: readonly string[];
  let statistics: unknown;

  function kindOf(key: string): string {
    return key.slice(connection.prefix.length).replace(/:.*/s, '');
  }

  beforeAll(async () => {
    const rules = documentedRules();
    redis = await startRedis({ user: { name: 'gatehouse', password: 'a-password', rules } });
    connection = await connectionTo(redis.url);
    await useEverything(createRedisStores(connection, sealerWith('a')), redis.now());
    await keepSnapshots(connection);
    await takeInventory(connection);
    await heardOverRedis(connection);
    statistics = await redis.send('INFO', 'commandstats');
    keys = [await redis.send('KEYS', '*')].flat().map(String);
  });

  afterAll(async () => {
    await connection[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  test('has a row for every kind of key, and for no other', () => {
    const kinds = rowsOfSchema().map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual([...KEY_KINDS].sort());
    expect([...new Set(keys.map(kindOf))].sort()).toEqual([...KEY_KINDS].sort());
  });

  test('names the prefix of every key, and its type', async () => {
    const types = new Map(rowsOfSchema().map(({ kind, type }) => [kind, type]));
    for (const key of keys) {
      expect(key.startsWith(connection.prefix)).toBe(true);
      expect([key, await redis.send('TYPE', key)]).toEqual([key, types.get(kindOf(key))]);
    }
  });

  test('can be written by a user with the documented rights', async () => {
    const denied = String(await redis.send('ACL', 'LOG'));
    expect(denied).toBe('');
  });

  test('documents the rights to exactly the commands that are used', () => {
    const ran = [...String(statistics).matchAll(/^cmdstat_([^:]+):/gm)].map(
      ([, name = '']) => name,
    );
    const allowed = documentedRules().match(/(?<=\+)\S+/g) ?? [];
    expect(allowed.filter((command) => !ran.includes(command))).toEqual([]);
  });

  test('gives every key a lifetime', async () => {
    for (const key of keys) {
      expect([key, await redis.send('PTTL', key)]).not.toEqual([key, NO_EXPIRY]);
    }
  });

  test('shows a reader of Redis neither secrets nor the owners of records', async () => {
    const read: string[] = [...keys];
    for (const key of keys) {
      const type = String(await redis.send('TYPE', key));
      if (type === 'string') read.push(String(await redis.send('GET', key)));
      if (type === 'hash') read.push(String(await redis.send('HGETALL', key)));
    }
    for (const text of NOT_FOR_READERS) {
      expect(read.filter((each) => each.includes(text))).toEqual([]);
    }
  });
});
