import { expect, test } from '@jest/globals';

import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import {
  aSession,
  ISSUER,
  LOOPBACK_CALLBACK,
  startAuthorizationServer,
} from '../support/authorization-server.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { authorizationUrl, decide, register } from '../support/client-flow.ts';
import { signInAt, startSignInWorld, upstreamAnswer } from '../support/sign-in-world.ts';

const TEN_MINUTES = 10 * 60_000;

/** What one user may do in that time. */
const RATE = { limit: 100, windowSeconds: 600 };

/** The stores with a limit of 3 for each user, which a test reaches soon. */
function withLowLimits(stores: Stores): Stores {
  const { rateLimits } = stores;
  return {
    ...stores,
    rateLimits: {
      countUse(key, rate) {
        if (!/^(?:sign-in|browser-session|approval)-of:/.test(key))
          return rateLimits.countUse(key, rate);
        expect(rate).toEqual(RATE);
        return rateLimits.countUse(key, { ...rate, limit: 3 });
      },
    },
  };
}

// Attack: a signed-in user pushes the sessions of all others out of the memory of the gateway.
test('a user who signs in too often is refused for a while, and others are not', async () => {
  await using world = await startSignInWorld({ wrapStores: withLowLimits });
  const app = world.originOf('app');
  await world.serve({ routes: [app] });
  const signIn = async (login: string): Promise<number> =>
    (await signInAt(new BrowserJar(), app, login)).status;

  expect([await signIn('bob'), await signIn('bob'), await signIn('bob')]).toEqual([200, 200, 200]);
  expect(await signIn('bob')).toBe(429);
  expect(await signIn('alice')).toBe(200);
  world.advance(TEN_MINUTES);
  expect(await signIn('bob')).toBe(200);
});

test('a user who signs in at too many hosts is refused there for a while', async () => {
  await using world = await startSignInWorld({ wrapStores: withLowLimits });
  const routes = ['a', 'b', 'c', 'd'].map((name) => world.originOf(name));
  await world.serve({ routes, authenticateUrl: world.originOf('authenticate') });
  const browser = new BrowserJar();
  const statuses: number[] = [];
  for (const route of routes) statuses.push((await signInAt(browser, route)).status);

  expect(statuses).toEqual([200, 200, 200, 429]);
  expect(upstreamAnswer(await browser.open(routes[0] ?? '')).user).toBe('alice');
});

// Attack: a signed-in user pushes the grants and clients of all others out of the memory of the gateway.
test('a user who approves clients too often is refused for a while, and others are not', async () => {
  const stores = withLowLimits(createMemoryStores());
  await using server = await startAuthorizationServer({ stores });
  const approve = async (cookie: string): Promise<URL> => {
    const client = await register(server, { redirect_uris: [LOOPBACK_CALLBACK] });
    return decide(server, authorizationUrl(client.id), cookie);
  };
  const { identity } = aSession(server.clock.now);
  const alice = await server.signIn();
  const bob = await server.signIn(ISSUER, { identity: { ...identity, subject: 'bob' } });

  for (let approval = 0; approval < 3; approval += 1) {
    expect((await approve(alice)).searchParams.has('code')).toBe(true);
  }
  await expect(approve(alice)).rejects.toThrow(/429/);
  expect((await approve(bob)).searchParams.has('code')).toBe(true);
});
