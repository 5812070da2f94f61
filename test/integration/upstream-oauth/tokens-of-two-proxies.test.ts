import { expect, test } from '@jest/globals';

import { eventually } from '../../support/eventually.ts';
import { describeWithRedis } from '../../support/redis/describe-with-redis.ts';
import { aCaller } from '../../support/upstream-oauth/internal-tokens-fixture.ts';
import {
  type InternalTokensWorld,
  startInternalTokensWorld,
} from '../../support/upstream-oauth/internal-tokens-world.ts';

const ALICE = aCaller();
const HOUR_SECONDS = 3600;
/** How long a refresh is reserved for a proxy that does not answer. */
const LEASE_SECONDS = 15;

async function tokenAt(
  { proxies, route, context }: InternalTokensWorld,
  proxy: number,
): Promise<string> {
  const token = await proxies[proxy]?.tokens.tokenFor(ALICE, route, context);
  if (typeof token !== 'object') return token ?? 'no such proxy';
  return token.accessToken;
}

/** Fifty requests of one user, at both proxies. */
function fiftyRequests(world: InternalTokensWorld): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: 50 }, (_, index) => tokenAt(world, index % 2)));
}

function refreshesAt({ authorizationServer }: InternalTokensWorld): number {
  return authorizationServer.tokenRequests.filter(
    ({ grant_type: type }) => type === 'refresh_token',
  ).length;
}

describeWithRedis('The internal tokens of two proxies', () => {
  test('are refreshed by one token request, again and again, when fifty requests find them expired', async () => {
    await using world = await startInternalTokensWorld();
    const { verify } = world.authorizationServer;
    await world.connect();
    const tokens = new Set([await tokenAt(world, 0), await tokenAt(world, 1)]);
    expect(tokens.size).toBe(1);
    for (let refreshes = 1; refreshes <= 3; refreshes += 1) {
      world.advance(HOUR_SECONDS + 1);
      const [token = '', ...others] = new Set(await fiftyRequests(world));
      expect(others).toEqual([]);
      expect(tokens.has(token)).toBe(false);
      tokens.add(token);
      expect(refreshesAt(world)).toBe(refreshes);
      // The server, which rotates refresh tokens, saw each one once.
      expect(await verify(token)).toMatchObject({ subject: 'alice' });
    }
  });

  test('are refreshed ahead by one proxy, and the other one uses the new token then', async () => {
    await using world = await startInternalTokensWorld();
    await world.connect();
    const before = (await fiftyRequests(world))[0] ?? '';
    world.advance(HOUR_SECONDS - 60);
    expect(new Set(await fiftyRequests(world))).toEqual(new Set([before]));
    const isNew = async (): Promise<boolean> => !(await fiftyRequests(world)).includes(before);
    await eventually('both have the new token', isNew);
    expect(refreshesAt(world)).toBe(1);
  });

  test('are dropped at both when the user disconnects at one, and revoked', async () => {
    await using world = await startInternalTokensWorld();
    const { proxies, route, context, authorizationServer } = world;
    await world.connect();
    const [token = ''] = await fiftyRequests(world);
    await proxies[0].tokens.disconnect(ALICE.session.identity, route, context);
    expect(await tokenAt(world, 0)).toBe('not-connected');
    const isDropped = async (): Promise<boolean> => (await tokenAt(world, 1)) === 'not-connected';
    await eventually('the other proxy has dropped it', isDropped);
    expect(await authorizationServer.verify(token)).toBeNull();
  });

  test('are refreshed by the other proxy when one dies while it refreshes', async () => {
    await using world = await startInternalTokensWorld();
    const { proxies, authorizationServer, redis } = world;
    await world.connect();
    await tokenAt(world, 0);
    world.advance(HOUR_SECONDS + 1);
    const [connection] = await proxies[0].stores.connectionsOfUsers.list(ALICE.session.identity);
    if (connection === undefined) throw new Error('alice is connected');
    const key = { user: ALICE.session.identity, ...connection };
    // What remains of a proxy that died: a claim that nobody extends.
    expect(await proxies[0].stores.internalTokens.claimRenewal(key, LEASE_SECONDS)).toMatchObject({
      kind: 'claimed',
    });
    const waiting = tokenAt(world, 1);
    redis.advance(LEASE_SECONDS);
    expect(await authorizationServer.verify(await waiting)).toMatchObject({ subject: 'alice' });
    expect(refreshesAt(world)).toBe(1);
  });

  test('end with the registration that the server forgot, and a new connection registers again', async () => {
    await using world = await startInternalTokensWorld();
    const { authorizationServer } = world;
    await world.connect();
    expect(authorizationServer.hits('registration')).toBe(1);
    await world.connect('bob');
    expect(authorizationServer.hits('registration')).toBe(1);
    await authorizationServer.forget('Client');
    world.advance(HOUR_SECONDS + 1);
    expect(await tokenAt(world, 1)).toBe('not-connected');
    await world.connect();
    expect(authorizationServer.hits('registration')).toBe(2);
    expect(await authorizationServer.verify(await tokenAt(world, 1))).not.toBeNull();
  });

  test('are not in the log', async () => {
    await using world = await startInternalTokensWorld();
    await world.connect();
    const secrets = [await tokenAt(world, 0)];
    world.advance(HOUR_SECONDS + 1);
    secrets.push(await tokenAt(world, 0));
    const log = JSON.stringify(world.logger.records);
    expect(log).toContain('"step":"token"');
    const refreshTokens = world.authorizationServer.tokenRequests.flatMap(
      ({ refresh_token: secret }) => (typeof secret === 'string' ? [secret] : []),
    );
    expect(refreshTokens).toHaveLength(1);
    for (const secret of [...secrets, ...refreshTokens]) expect(log).not.toContain(secret);
  });
});

describeWithRedis('Authorization servers of other kinds', () => {
  test.each([
    ['that gives no new refresh token', { refreshTokens: 'kept' }, {}],
    [
      'that refuses resource indicators',
      { resourceIndicators: 'refused' },
      { sendsResource: false },
    ],
  ] as const)('one %s refreshes tokens', async (_case, features, oauth) => {
    await using world = await startInternalTokensWorld(features, oauth);
    await world.connect();
    const before = await tokenAt(world, 0);
    for (let refreshes = 1; refreshes <= 2; refreshes += 1) {
      world.advance(HOUR_SECONDS + 1);
      expect(await tokenAt(world, 0)).not.toBe(before);
      expect(refreshesAt(world)).toBe(refreshes);
    }
    const resources = world.authorizationServer.tokenRequests.map(({ resource }) => resource);
    expect(resources.every((sent) => (sent === undefined) === 'sendsResource' in oauth)).toBe(true);
  });
});
