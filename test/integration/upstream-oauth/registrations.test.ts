import { beforeEach, describe, expect, jest, test } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { disposeAfterEach } from '../../support/dispose-after-each.ts';
import { startGatewayWithUsers } from '../../support/gateway-with-users.ts';
import { send } from '../../support/http-client.ts';
import { startUpstream } from '../../support/upstream.ts';
import {
  GIVEN_CREDENTIALS,
  startUpstreamOAuthWorld,
  type UpstreamOAuthWorld,
} from '../../support/upstream-oauth/upstream-oauth-world.ts';
import { startUpstreamAuthorizationServer } from '../../support/upstream-oauth/authorization-server.ts';
import { startProtectedMcpServer } from '../../support/upstream-oauth/protected-mcp-server.ts';
import { walkThroughForms } from '../../support/walk-through-forms.ts';
import { verifies } from '../../requirements/verifies.ts';

const opened = disposeAfterEach();

beforeEach(() => {
  // The SDK 2.x reports each refresh that was refused.
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
});

type Options = NonNullable<Parameters<typeof startUpstreamOAuthWorld>[0]>;

async function start(options?: Options): Promise<UpstreamOAuthWorld> {
  return opened(await startUpstreamOAuthWorld(options));
}

/** Has alice and bob call a tool, each as themselves, and each after one authorization. */
async function expectBothToWork(world: UpstreamOAuthWorld): Promise<void> {
  for (const login of ['alice', 'bob']) {
    const client = world.client(login);
    expect(JSON.parse(await client.callTool('whoami'))).toMatchObject({ subject: `up-${login}` });
    expect(client.authorizations).toBe(1);
  }
}

describe('an upstream whose authorization server', () => {
  verifies('upstream-oauth.discovered', 'takes registrations gets one, for all users', async () => {
    const world = await start();
    await expectBothToWork(world);
    expect(world.authorizationServer.hits('registration')).toBe(1);
  });

  verifies(
    'upstream-oauth.given-credentials',
    'knows the gateway is discovered, and gets no registration',
    async () => {
      const world = await start({ upstreamOauth2: GIVEN_CREDENTIALS });
      await expectBothToWork(world);
      const { authorizationServer, server } = world;
      expect(authorizationServer.hits('registration')).toBe(0);
      expect(authorizationServer.hits('metadata')).toBeGreaterThan(0);
      expect(server.metadataRequests()).toBeGreaterThan(0);
    },
  );

  verifies(
    'upstream-oauth.given-endpoints',
    'is named with its endpoints is not discovered, and needs no entry in the allowlist',
    async () => {
      const world = await start();
      const { issuer } = world.authorizationServer;
      await world.serve(
        {
          ...GIVEN_CREDENTIALS,
          endpoint: { authUrl: `${issuer}/auth`, tokenUrl: `${issuer}/token` },
          scopes: ['read'],
        },
        { mcpAllowedAsMetadataDomains: [] },
      );
      await expectBothToWork(world);
      const { authorizationServer, server } = world;
      expect(authorizationServer.hits('metadata')).toBe(0);
      expect(authorizationServer.hits('registration')).toBe(0);
      expect(server.metadataRequests()).toBe(0);
      const [request] = authorizationServer.authorizationRequests;
      expect(request?.get('scope')).toBe('read');
    },
  );

  verifies(
    'upstream-oauth.forgotten-registration',
    'forgot the registration gets another one, and users connect again',
    async () => {
      const world = await start();
      const alice = world.client('alice');
      await alice.callTool('whoami');
      for (const kind of ['Client', 'AccessToken', 'RefreshToken'] as const) {
        await world.authorizationServer.forget(kind);
      }
      expect(await alice.callTool('whoami')).toContain('up-alice');
      expect(alice.authorizations).toBe(2);
      expect(world.authorizationServer.hits('registration')).toBe(2);
    },
  );

  verifies(
    'upstream-oauth.fallback-issuer',
    'is named as the fallback is found without protected resource metadata',
    async () => {
      const world = await start({ server: { metadataPath: null } });
      await expect(world.client().callTool('whoami')).rejects.toThrow();
      await world.serve({ scopes: ['read'] }, {}, world.authorizationServer.issuer);
      await expectBothToWork(world);
    },
  );
});

verifies(
  'upstream-oauth.metadata-document',
  'a server that takes metadata documents gets the gateway’s own as its client ID',
  async () => {
    const [origin, app] = ['https://mcp.example.test', 'https://app.example.test'];
    const users = opened(await startGatewayWithUsers());
    const documents: string[] = [];
    const authorizationServer = opened(
      await startUpstreamAuthorizationServer({
        // TLS ends before the gateway.
        fetchClientMetadata: async (input) => {
          const url = new URL(new Request(input).url);
          documents.push(url.href);
          const { status, headers, body } = await send(users.gateway.origin + url.pathname, {
            headers: { host: url.host },
          });
          const type = String(headers['content-type']);
          return new Response(body, { status, headers: { 'content-type': type } });
        },
      }),
    );
    const { issuer, verify } = authorizationServer;
    const server = opened(
      await startProtectedMcpServer({ authorizationServers: [issuer], verify }),
    );
    const application = opened(await startUpstream((_request, response) => response.end()));
    const access = { allowAnyAuthenticatedUser: true };
    const mcp = { server: { path: '/mcp', upstreamOauth2: {} } };
    await users.configure(
      {
        mcp: { ...access, from: origin, to: server.origin, mcp },
        app: { ...access, from: app, to: application.origin, mcp: { client: {} } },
      },
      { mcpAllowedAsMetadataDomains: ['localhost'] },
    );

    const browser = new BrowserJar({ tlsPort: users.gateway.port });
    const target = encodeURIComponent(`${app}/back`);
    const start = `${origin}/.gateway/mcp/connect?redirect_url=${target}`;
    const page = await walkThroughForms(browser, start, { loginAt: () => 'alice' });
    expect(page.url).toBe(`${app}/back`);
    const clientId = `${origin}/.gateway/mcp/client/metadata.json`;
    expect(documents).toEqual([clientId]);
    const [request] = authorizationServer.authorizationRequests;
    expect(request?.get('client_id')).toBe(clientId);
    expect(authorizationServer.hits('registration')).toBe(0);
    expect(authorizationServer.tokenRequests).toHaveLength(1);
  },
);

describe('a server whose resource indicators', () => {
  verifies('upstream-oauth.resource', 'are required gets the resource each time', async () => {
    const world = await start({ authorizationServer: { accessTokenSeconds: 60 } });
    const client = world.client();
    await client.callTool('whoami');
    world.advance(60_000);
    await client.callTool('whoami');
    const { authorizationRequests, tokenRequests } = world.authorizationServer;
    const { url: resource } = world.server;
    expect(authorizationRequests.map((request) => request.get('resource'))).toEqual([resource]);
    expect(tokenRequests).toEqual([
      expect.objectContaining({ grant_type: 'authorization_code', resource }),
      expect.objectContaining({ grant_type: 'refresh_token', resource }),
    ]);
    expect(client.authorizations).toBe(1);
  });

  verifies('upstream-oauth.resource', 'are refused works with the setting only', async () => {
    const world = await start({ authorizationServer: { resourceIndicators: 'refused' } });
    await expect(world.client().callTool('whoami')).rejects.toThrow(/gateway cannot connect/);
    await world.serve({ resourceIndicator: false });
    await expectBothToWork(world);
  });

  test('are ignored works', async () => {
    const world = await start({ authorizationServer: { resourceIndicators: 'ignored' } });
    await expectBothToWork(world);
  });
});

describe('a server that gives refresh tokens', () => {
  test.each(['rotated', 'kept', 'none'] as const)('(%s) is asked for new ones', async (kind) => {
    const world = await start({
      authorizationServer: { refreshTokens: kind, accessTokenSeconds: 60 },
    });
    const client = world.client();
    for (let time = 0; time < 3; time += 1) {
      expect(await client.callTool('whoami')).toContain('up-alice');
      world.advance(60_000);
    }
    expect(client.authorizations).toBe(kind === 'none' ? 3 : 1);
  });
});
