import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { BrowserJar } from '../support/browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { membersOf, type Answer } from '../support/http-client.ts';
import { emptyResult } from '../support/mcp-route.ts';
import {
  callMcp,
  postForm,
  signInClient,
  type SignedInClient,
} from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Longer than a session or a token that was checked is valid without asking the stores. */
const CACHE_MS = 6000;

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

let offset = 0;
let upstream: Upstream;
let world: GatewayWithUsers;
let app: string;
let mcp: string;

beforeAll(async () => {
  upstream = await startUpstream(emptyResult);
  world = await startGatewayWithUsers({ now: () => Date.now() + offset });
  app = world.originOf('app');
  mcp = world.originOf('mcp');
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Configures the provider under a name, and waits until cached checks have expired. */
async function nameProvider(name: string): Promise<void> {
  const { issuer, clientId } = world.identityProvider;
  const clientSecretRef = { name: 'identity-provider', key: 'client-secret' };
  const provider = { name, issuerUrl: issuer, clientId, clientSecretRef, scopes: ['openid'] };
  const to = upstream.origin;
  await world.configure(
    {
      app: { from: app, to, allowAnyAuthenticatedUser: true },
      mcp: { from: mcp, to, mcp: { server: {} }, allowAnyAuthenticatedUser: true },
    },
    { identityProviders: [provider] },
  );
  offset += CACHE_MS;
}

function refresh({ server, clientId }: SignedInClient, refreshToken: string): Promise<Answer> {
  return postForm(server.tokenEndpoint, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
    resource: server.resource,
  });
}

test('sessions in browsers end when the identity provider is renamed, and only then', async () => {
  const browser = new BrowserJar();
  const statusAtApp = async (): Promise<number> =>
    (await browser.open(app, { stopAt: () => true })).status;
  await nameProvider('first');
  await browser.submit(await browser.open(app), { login: 'alice' });
  await nameProvider('first');
  expect(await statusAtApp()).toBe(200);

  await nameProvider('second');
  expect(await statusAtApp()).toBe(303);
});

test('tokens of MCP clients end when the identity provider is renamed, and only then', async () => {
  await nameProvider('first');
  const client = await signInClient(mcp);
  await nameProvider('first');
  expect((await callMcp(mcp, client.accessToken, PING)).status).toBe(200);
  const refreshed = membersOf(await refresh(client, client.refreshToken));
  const accessToken = String(refreshed['access_token']);
  expect((await callMcp(mcp, accessToken, PING)).status).toBe(200);

  await nameProvider('second');
  for (const token of [client.accessToken, accessToken]) {
    const { status, headers } = await callMcp(mcp, token, PING);
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toContain('error="invalid_token"');
  }
  const refused = await refresh(client, String(refreshed['refresh_token']));
  expect(refused.status).toBe(400);
  expect(membersOf(refused)['error']).toBe('invalid_grant');
});
