import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import { failingStores, type FailingStores } from '../support/failing-stores.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { membersOf, send, type Answer } from '../support/http-client.ts';
import {
  authorize,
  callMcp,
  postForm,
  redeem,
  signInClient,
  type SignedInClient,
} from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };
const NAVIGATION = { 'sec-fetch-mode': 'navigate', accept: 'text/html' };
const SECOND = 1000;
const FRESH_SECONDS = 5;
const GRACE_SECONDS = 60;

let offset = 0;
let failing: FailingStores;
let world: GatewayWithUsers;
let upstream: Upstream;
let app: string;
let mcp: string;
let open: string;
let client: SignedInClient;
/** The `Cookie` header of a user who is signed in at `app`. */
let cookie: string;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    response.setHeader('content-type', 'application/json');
    response.end('{"jsonrpc":"2.0","id":7,"result":{}}');
  });
  const now = (): number => Date.now() + offset;
  failing = failingStores(createMemoryStores(now));
  world = await startGatewayWithUsers({ stores: failing.stores, now });
  [app, mcp, open] = [world.originOf('app'), world.originOf('mcp'), world.originOf('open')];
  const to = upstream.origin;
  await world.configure(
    {
      app: { from: app, to, allowAnyAuthenticatedUser: true, allowWebsockets: true },
      mcp: { from: mcp, to, allowAnyAuthenticatedUser: true, mcp: { server: {} } },
      open: { from: open, to, allowPublicUnauthenticatedAccess: true },
    },
    { outageGrace: `${String(GRACE_SECONDS)}s` },
  );
  client = await signInClient(mcp);
  await client.browser.open(app);
  cookie = cookieAt(app, client.browser);
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

beforeEach(async () => {
  // A missed revocation empties the caches of tokens and sessions.
  await failing.stores.revocations.publish({ kind: 'missed' });
});

afterEach(() => {
  failing.setAway(false);
});

function cookieAt(origin: string, { cookies }: BrowserJar): string {
  const { hostname } = new URL(origin);
  const own = cookies.filter(({ host }) => host === hostname);
  return own.map(({ name, value }) => `${name}=${value}`).join('; ');
}

function ping(): Promise<Answer> {
  return callMcp(mcp, client.accessToken, PING);
}

function visit(): Promise<Answer> {
  return send(`${app}/page`, { headers: { ...NAVIGATION, cookie } });
}

function expectUnavailable(answer: Answer): void {
  expect(answer.status).toBe(503);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.headers).not.toHaveProperty('location');
  expect(answer.headers).not.toHaveProperty('www-authenticate');
}

function expectPage(answer: Answer): void {
  expectUnavailable(answer);
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(answer.body).toContain('try again later');
}

function expectOAuthError(answer: Answer): void {
  expectUnavailable(answer);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(membersOf(answer)).toMatchObject({ error: 'temporarily_unavailable' });
}

describe('A response while the stores are away', () => {
  test('an MCP client whose token is not cached gets 503 in JSON-RPC', async () => {
    failing.setAway(true);
    const answer = await ping();
    expectUnavailable(answer);
    expectJsonRpcError(answer, { status: 503, code: 50301, reason: 'store-unavailable' });
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });

  test('a browser whose session is not cached gets a page with 503, and no redirect', async () => {
    failing.setAway(true);
    expectPage(await visit());
  });

  test('a script whose session is not cached gets 503 in JSON', async () => {
    failing.setAway(true);
    const answer = await send(`${app}/data`, { headers: { cookie } });
    expectUnavailable(answer);
    expect(membersOf(answer)).toMatchObject({ error: 'store-unavailable' });
  });

  test('a WebSocket handshake of a session that is not cached gets 503', async () => {
    failing.setAway(true);
    const handshake = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', cookie },
      ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    };
    expectUnavailable(await send(`${app}/socket`, { headers: handshake }));
  });

  test('a client that refreshes gets 503 in OAuth’s JSON, and can use the refresh token later', async () => {
    const form = { grant_type: 'refresh_token', refresh_token: client.refreshToken };
    const refresh = (): Promise<Answer> =>
      postForm(client.server.tokenEndpoint, { ...form, client_id: client.clientId });
    failing.setAway(true);
    expectOAuthError(await refresh());
    failing.setAway(false);
    expect((await refresh()).status).toBe(200);
  });

  test('a client that redeems a code gets 503 in OAuth’s JSON, and can use the code later', async () => {
    const { browser, clientId, server } = client;
    const redirect = await authorize(server, clientId, { browser });
    const code = redirect.searchParams.get('code') ?? '';
    failing.setAway(true);
    expectOAuthError(await redeem(server, clientId, code));
    failing.setAway(false);
    expect((await redeem(server, clientId, code)).status).toBe(200);
  });

  test('a client that revokes a token gets 503 in OAuth’s JSON', async () => {
    failing.setAway(true);
    const form = { token: client.accessToken, client_id: client.clientId };
    expectOAuthError(await postForm(client.server.revocationEndpoint, form));
  });

  test('a client that registers gets 503 in OAuth’s JSON', async () => {
    failing.setAway(true);
    const answer = await send(client.server.registrationEndpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"redirect_uris":["http://127.0.0.1:1/callback"]}',
    });
    expectOAuthError(answer);
  });

  test('a browser at the authorization endpoint gets a page with 503', async () => {
    failing.setAway(true);
    const query = new URLSearchParams({ client_id: client.clientId, response_type: 'code' });
    const url = `${client.server.authorizationEndpoint}?${query.toString()}`;
    expectPage(await send(url, { headers: NAVIGATION }));
  });

  test.each([
    '/.gateway/callback?code=c&state=x',
    '/.gateway/sign_out',
    '/.gateway/mcp/consent?request=x',
  ])('a browser at %s gets a page with 503', async (path) => {
    failing.setAway(true);
    expectPage(await send(app + path, { headers: { ...NAVIGATION, cookie } }));
  });

  test('a browser that must sign in gets a page with 503', async () => {
    failing.setAway(true);
    const page = await new BrowserJar().open(app);
    expect(page.hops.map(({ status }) => status)).toEqual([303, 503]);
    expect(page.headers['retry-after']).toBeDefined();
  });
});

describe('The gateway while the stores are away', () => {
  test('the gateway serves everything that needs no store', async () => {
    failing.setAway(true);
    expect((await send(open)).status).toBe(200);
    for (const path of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-authorization-server',
      '/.gateway/jwks.json',
    ]) {
      expect((await send(mcp + path)).status).toBe(200);
    }
    expect((await callMcp(mcp, 'no-token', PING)).status).toBe(401);
  });

  test('the gateway accepts cached tokens and sessions until the outage grace ends', async () => {
    expect([(await ping()).status, (await visit()).status]).toEqual([200, 200]);
    failing.setAway(true);
    offset += FRESH_SECONDS * SECOND;
    expect([(await ping()).status, (await visit()).status]).toEqual([200, 200]);
    offset += GRACE_SECONDS * SECOND;
    expectUnavailable(await ping());
    expectPage(await visit());
    failing.setAway(false);
    expect([(await ping()).status, (await visit()).status]).toEqual([200, 200]);
  });
});
