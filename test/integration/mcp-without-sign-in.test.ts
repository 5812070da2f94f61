import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client as ClassicClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as ClassicTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { startBearerWorld } from '../support/bearer-world.ts';
import { membersOf, send } from '../support/http-client.ts';
import { startLoopbackClient, type LoopbackClient } from '../support/loopback-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { authorize, challengeParameters, discover, register } from '../support/signed-in-client.ts';

const NOBODY_SIGNS_IN = /nobody can sign in/;
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const INFO = { name: 'test', version: '1.0.0' };

const world = openForAll(startBearerWorld);

beforeEach(() => serveMachinesOnly());

/** Serves routes for which nobody can sign in: the only provider issues tokens to machines. */
async function serveMachinesOnly(mcp: object = {}): Promise<void> {
  const identityProviders = world().identityProviders.filter(({ name }) => name === 'machines');
  const asJwt = { bearerTokenFormat: 'jwt' } as const;
  await world().serve({ identityProviders }, { access: asJwt, people: asJwt, mcp });
}

type Connect = (url: URL, client: LoopbackClient) => Promise<unknown>;

const SDKS: Readonly<Record<string, Connect>> = {
  'sdk 1.x': (url, { provider }) =>
    new ClassicClient(INFO).connect(new ClassicTransport(url, { authProvider: provider })),
  'client 2.x': (url, { provider }) =>
    new ModernClient(INFO, { versionNegotiation: { mode: 'auto' } }).connect(
      new ModernTransport(url, { authProvider: provider }),
    ),
};

describe('An MCP route for which nobody can sign in', () => {
  test.each(Object.entries(SDKS))(
    'tells a client without a token so (%s), and opens no page for the user',
    async (name, connect) => {
      await using client = await startLoopbackClient(name);
      // The SDK resolves no names under localhost.
      const { origin } = world().users.gateway;
      await serveMachinesOnly({ from: origin });
      let isPageOpened = false;
      void client.authorizationUrl.then(() => (isPageOpened = true));

      await expect(connect(new URL(origin), client)).rejects.toThrow(NOBODY_SIGNS_IN);
      expect(isPageOpened).toBe(false);
    },
  );

  test('describes itself without an authorization server', async () => {
    const { mcp } = world();
    const refused = await send(mcp, { method: 'POST', body: PING });
    expect(refused.status).toBe(401);
    const challenge = challengeParameters(refused.headers['www-authenticate']);
    const metadata = await send(challenge['resource_metadata'] ?? '');

    expect(membersOf(metadata)).toEqual({
      ...{ resource: mcp, resource_name: 'default/mcp', bearer_methods_supported: ['header'] },
    });
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      expect((await send(`${mcp}/.well-known/${name}`)).status).toBe(404);
    }
  });

  test('still takes the tokens that it is for', async () => {
    const { mcp, machines } = world();
    const token = await machines.sign({ sub: 'robot' });
    const headers = {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      accept: 'application/json, text/event-stream',
    };
    expect((await send(mcp, { method: 'POST', headers, body: PING })).status).toBe(200);
  });

  test('shows a person a page that promises no sign-in', async () => {
    const page = await send(world().mcp, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(page.body).not.toContain('you sign in');
  });

  test('refuses the request of a client that registered before, without asking the user', async () => {
    const { users, identityProviders, mcp } = world();
    await world().serve({ identityProviders });
    const server = await discover(mcp);
    const clientId = await register(server);
    await serveMachinesOnly();

    const redirect = await authorize(server, clientId);
    expect(redirect.searchParams.get('error')).toBe('invalid_target');
    expect(redirect.searchParams.get('error_description')).toMatch(NOBODY_SIGNS_IN);
    expect(users.identityProvider.authorizationRequests).toEqual([]);
  });
});

describe('A host with another MCP route, for which users sign in', () => {
  test('has an authorization server for that one only', async () => {
    const { mcp, identityProviders } = world();
    const settings = identityProviders.map((provider) =>
      provider.name === 'test' ? { ...provider, signIn: false } : provider,
    );
    const signIn = { identityProvider: 'test', from: mcp, mcp: { server: {} }, prefix: '/people' };
    const machinesOnly = { prefix: '/machines' };
    await world().serve(
      { identityProviders: settings },
      { people: signIn, access: { identityProvider: 'test' }, mcp: machinesOnly },
    );

    const server = await discover(`${mcp}/people`);
    expect(server.issuer).toBe(mcp);
    const clientId = await register(server);
    const metadata = await send(`${mcp}/.well-known/oauth-protected-resource/machines`);
    expect(membersOf(metadata)).not.toHaveProperty('authorization_servers');
    const redirect = await authorize({ ...server, resource: `${mcp}/machines` }, clientId);
    expect(redirect.searchParams.get('error')).toBe('invalid_target');
  });
});
