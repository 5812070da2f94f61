import { createHash } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { BrowserJar } from '../../../support/browser-jar.ts';
import { ClientWithUser } from '../../../support/client-with-user.ts';
import { disposeAfterEach } from '../../../support/dispose-after-each.ts';
import { membersOf, send } from '../../../support/http-client.ts';
import { callMcp, challengeParameters, postForm } from '../../../support/signed-in-client.ts';
import {
  startUpstreamAuthorizationServer,
  type UpstreamAuthorizationServer,
} from '../../../support/upstream-oauth/authorization-server.ts';
import type { AuthorizationServerFeatures } from '../../../support/upstream-oauth/authorization-server-configuration.ts';
import {
  ADMIN_TOOL,
  startProtectedMcpServer,
  type ProtectedMcpServer,
  type ProtectedMcpServerOptions,
} from '../../../support/upstream-oauth/protected-mcp-server.ts';

const REDIRECT_URI = 'http://localhost:1/callback';
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

const opened = disposeAfterEach();

interface World {
  readonly authorizationServer: UpstreamAuthorizationServer;
  readonly server: ProtectedMcpServer;
}

async function start(
  features: AuthorizationServerFeatures = {},
  options: Partial<ProtectedMcpServerOptions> = {},
): Promise<World> {
  const authorizationServer = opened(await startUpstreamAuthorizationServer(features));
  const { issuer, verify } = authorizationServer;
  const authorizationServers = [issuer];
  const server = opened(
    await startProtectedMcpServer({ authorizationServers, verify, ...options }),
  );
  return { authorizationServer, server };
}

describe('a protected MCP server with a real authorization server', () => {
  test.each(['auto', 'legacy'] as const)(
    'lets an official client in that registers itself (%s)',
    async (mode) => {
      const { server, authorizationServer } = await start();
      const client = opened(new ClientWithUser(server.url, { mode }));
      expect(await client.callTool('whoami')).toContain('"subject":"alice"');
      expect(client.authorizations).toBe(1);
      expect(authorizationServer.hits('registration')).toBe(1);
      expect(authorizationServer.tokenRequests).toEqual([
        expect.objectContaining({ grant_type: 'authorization_code', resource: server.url }),
      ]);
    },
  );

  test('takes rotated refresh tokens once, and refuses the tool that needs more scopes', async () => {
    const world = await start({ registration: false });
    const { server, authorizationServer } = world;
    const tokens = await tokensOfGivenClient(world);
    const refresh = () => tokenRequest(world, refreshForm(tokens));
    expect(await refresh()).toMatchObject({ status: 200 });
    expect(await refresh()).toMatchObject({ status: 400 });
    expect(authorizationServer.hits('token')).toBe(3);

    const other = await tokensOfGivenClient(world);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: ADMIN_TOOL } };
    const answer = await callMcp(server.url, other['access_token'] ?? '', call);
    expect(answer.status).toBe(403);
    expect(challengeParameters(answer.headers['www-authenticate'])).toEqual({
      error: 'insufficient_scope',
      scope: 'admin',
      resource_metadata: `${server.origin}/.well-known/oauth-protected-resource/mcp`,
    });
    await authorizationServer.forget('AccessToken');
    expect((await callMcp(server.url, other['access_token'] ?? '', call)).status).toBe(401);
  });

  test.each(['refused', 'required'] as const)(
    'gives no tokens where resource indicators are %s, and the client does the opposite',
    async (resourceIndicators) => {
      const world = await start({ resourceIndicators });
      const resource = resourceIndicators === 'refused' ? world.server.url : undefined;
      const callback = await authorizeGivenClient(world, resource);
      expect(callback.get('error')).toBe('invalid_target');
    },
  );

  test('can lose its clients', async () => {
    const { authorizationServer } = await start();
    const registered = await send(`${authorizationServer.issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI] }),
    });
    const { client_id: clientId } = membersOf(registered);
    await authorizationServer.forget('Client');
    const query = new URLSearchParams({ client_id: String(clientId) });
    const page = await send(`${authorizationServer.issuer}/auth?${query.toString()}`);
    expect(page.body).toContain('invalid_client');
  });
});

type Form = Readonly<Record<string, string>>;

/** Authorizes the client that is registered by hand, and returns the parameters of the redirect. */
async function authorizeGivenClient(
  { authorizationServer: { issuer, givenClient, redirectUris } }: World,
  resource: string | undefined,
): Promise<URLSearchParams> {
  redirectUris.add(REDIRECT_URI);
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: givenClient.id, redirect_uri: REDIRECT_URI },
    ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256', scope: 'read' },
    ...(resource !== undefined && { resource }),
  });
  const stopAt = (url: string): boolean => url.startsWith(REDIRECT_URI);
  const browser = new BrowserJar();
  const page = await browser.open(`${issuer}/auth?${query.toString()}`, { stopAt });
  const last =
    page.forms.length === 0 ? page : await browser.submit(page, { login: 'alice' }, { stopAt });
  return new URL(last.headers.location ?? '').searchParams;
}

async function tokensOfGivenClient(world: World): Promise<Form> {
  const callback = await authorizeGivenClient(world, world.server.url);
  const answer = await tokenRequest(world, {
    ...{ grant_type: 'authorization_code', redirect_uri: REDIRECT_URI },
    ...{ code: callback.get('code') ?? '', code_verifier: VERIFIER, resource: world.server.url },
  });
  // RFC 6749, section 5.1: the tokens are strings.
  return membersOf(answer) as Form;
}

function refreshForm({ refresh_token: token = '' }: Form): Form {
  return { grant_type: 'refresh_token', refresh_token: token };
}

function tokenRequest({ authorizationServer: { issuer, givenClient }, server }: World, form: Form) {
  const { id: client_id, secret: client_secret } = givenClient;
  return postForm(`${issuer}/token`, { resource: server.url, client_id, client_secret, ...form });
}
