import { describe, expect, test } from '@jest/globals';

import type { Stores } from '../../proxy/store/stores.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { manifestsWithUsers } from '../support/gateway-with-users.ts';
import { membersOf } from '../support/http-client.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../support/identity-provider.ts';
import { emptyResult } from '../support/mcp-route.ts';
import { refresh, tokensIn } from '../support/session-world.ts';
import { signInUntil } from '../support/sign-in-world.ts';
import { callMcp, signInClient } from '../support/signed-in-client.ts';
import { startUpstream } from '../support/upstream.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

interface World extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly app: string;
  readonly mcp: string;
  /** Two providers that have the same name in the settings. Both know a user `alice`. */
  readonly first: TestIdentityProvider;
  readonly second: TestIdentityProvider;
  serve(provider: TestIdentityProvider): Promise<void>;
}

async function startWorld(wrapStores?: (stores: Stores) => Stores): Promise<World> {
  const stack = new AsyncDisposableStack();
  const upstream = stack.use(await startUpstream(emptyResult));
  let gateway = stack.use(await startGateway());
  if (wrapStores !== undefined) {
    gateway = stack.use(await startGateway({ stores: wrapStores(gateway.stores) }));
  }
  const first = stack.use(await startIdentityProvider({ refreshTokens: 'rotated' }));
  const second = stack.use(await startIdentityProvider({ refreshTokens: 'rotated' }));
  const origin = (name: string): string => `http://${name}.localhost:${String(gateway.port)}`;
  const [app, mcp] = [origin('app'), origin('mcp')];
  const to = upstream.origin;
  const routes = {
    app: { from: app, to, allowAnyAuthenticatedUser: true },
    mcp: { from: mcp, to, mcp: { server: {} }, allowAnyAuthenticatedUser: true },
  };
  for (const { redirectUris } of [first, second]) {
    for (const host of [app, mcp]) redirectUris.add(`${host}/.gateway/callback`);
  }
  return {
    ...{ gateway, app, mcp, first, second },
    serve: (provider) => gateway.apply(manifestsWithUsers(routes, {}, provider)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function statusAt(url: string, browser: BrowserJar): Promise<number> {
  return (await browser.open(url, { stopAt: () => true })).status;
}

describe('When a provider of the same name has another issuer', () => {
  test('sessions in browsers have ended at once', async () => {
    await using world = await startWorld();
    await world.serve(world.first);
    const browser = new BrowserJar();
    await browser.submit(await browser.open(world.app), { login: 'alice' });
    expect(await statusAt(world.app, browser)).toBe(200);

    await world.serve(world.second);
    expect(await statusAt(world.app, browser)).toBe(303);
    await world.serve(world.first);
    expect(await statusAt(world.app, browser)).toBe(200);
  });

  test('tokens of MCP clients have ended at once, and are not renewed', async () => {
    await using world = await startWorld();
    await world.serve(world.first);
    const client = await signInClient(world.mcp);
    expect((await callMcp(world.mcp, client.accessToken, PING)).status).toBe(200);

    await world.serve(world.second);
    expect((await callMcp(world.mcp, client.accessToken, PING)).status).toBe(401);
    const refused = await refresh(client);
    expect([refused.status, membersOf(refused)['error']]).toEqual([400, 'invalid_grant']);
    expect(world.second.tokenRequests()).toBe(0);
  });

  test('a sign-in that began at the first one does not send its code to the second one', async () => {
    await using world = await startWorld();
    await world.serve(world.first);
    const browser = new BrowserJar();
    const callback = await signInUntil(browser, world.app, /callback\?.*state=/);

    await world.serve(world.second);
    const page = await browser.open(callback);
    expect(page.status).toBe(400);
    expect(world.gateway.logs()).toContainEqual(
      expect.objectContaining({ message: 'request failed', reason: 'other-provider' }),
    );
    expect(world.second.tokenRequests()).toBe(0);
  });
});

describe('A session of a release that did not know issuers', () => {
  /** Takes the issuer out of the sessions that were created before `update`. */
  function beforeUpdate(): { wrap: (stores: Stores) => Stores; update: () => void } {
    const old = new Set<string>();
    let isUpdated = false;
    const wrap = (stores: Stores): Stores => ({
      ...stores,
      sessions: {
        create(session) {
          if (!isUpdated) old.add(session.id);
          return stores.sessions.create(session);
        },
        async get(id) {
          const session = await stores.sessions.get(id);
          if (session === null || !isUpdated || !old.has(id)) return session;
          const { provider, subject, groups, claims } = session.identity;
          return { ...session, identity: { provider, subject, groups, claims } };
        },
        revoke: (id) => stores.sessions.revoke(id),
      },
    });
    return { wrap, update: () => void (isUpdated = true) };
  }

  test('has ended in browsers, and the user signs in again', async () => {
    const { wrap, update } = beforeUpdate();
    await using world = await startWorld(wrap);
    await world.serve(world.first);
    const browser = new BrowserJar();
    const page = await browser.open(world.app);
    const stopAt = (url: string): boolean => url === `${world.app}/`;
    await browser.submit(page, { login: 'alice' }, { stopAt });

    update();
    expect(await statusAt(world.app, browser)).toBe(303);
    await browser.open(world.app);
    expect(await statusAt(world.app, browser)).toBe(200);
  });

  test('is renewed for an MCP client by the refresh token of the provider', async () => {
    const { wrap, update } = beforeUpdate();
    await using world = await startWorld(wrap);
    await world.serve(world.first);
    const client = await signInClient(world.mcp);

    update();
    expect((await callMcp(world.mcp, client.accessToken, PING)).status).toBe(401);
    const { accessToken } = tokensIn(await refresh(client));
    expect((await callMcp(world.mcp, accessToken, PING)).status).toBe(200);
  });
});

test('another client ID at the same issuer ends no session', async () => {
  await using world = await startWorld();
  await world.serve(world.first);
  const browser = new BrowserJar();
  await browser.submit(await browser.open(world.app), { login: 'alice' });
  await world.serve({ ...world.first, clientId: 'another-client' });
  expect(await statusAt(world.app, browser)).toBe(200);
});
