import { describe, expect, test } from '@jest/globals';

import { startGatewayWithUsers, type GatewayWithUsers } from '../../support/gateway-with-users.ts';
import { authorize, discover, register } from '../../support/signed-in-client.ts';
import { startUpstream } from '../../support/upstream.ts';
import {
  startScriptedAuthorizationServer,
  type Script,
  type ScriptedAuthorizationServer,
  type ScriptedEndpoint,
} from '../../support/upstream-oauth/scripted-authorization-server.ts';
import {
  drips,
  failsWith,
  hangs,
  redirects,
  sendsError,
  sendsForm,
  sendsHtml,
  sendsMembers,
} from '../../support/upstream-oauth/scripts.ts';
import { walkThroughForms } from '../../support/walk-through-forms.ts';
import { BrowserJar } from '../../support/browser-jar.ts';
import { verifies } from '../../requirements/verifies.ts';

/** What misbehaves, and what the user's application is told: nothing, or a `connect_error`. */
type Case = readonly [
  behaviour: string,
  endpoint: ScriptedEndpoint,
  script: Script,
  connectError: string | null,
];

const INSIDE = 'https://169.254.169.254/latest/meta-data';

/** A callback with other parameters than the right ones; undefined takes one away. */
function sendsBack(changes: Readonly<Record<string, string | undefined>>): Script {
  return (_request, right) => {
    const location = new URL(right.headers?.['location'] ?? '');
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) location.searchParams.delete(name);
      else location.searchParams.set(name, value);
    }
    return { ...right, headers: { location: location.href } };
  };
}

/** Each of them takes until the gateway gives up. */
const SILENT: readonly Case[] = [
  ['hangs', 'resourceMetadata', hangs, 'temporarily_unavailable'],
  ['hangs', 'metadata', hangs, 'temporarily_unavailable'],
  ['hangs', 'registration', hangs, 'temporarily_unavailable'],
  ['hangs', 'token', hangs, 'temporarily_unavailable'],
  ['drips', 'metadata', drips, 'temporarily_unavailable'],
  ['drips', 'token', drips, 'temporarily_unavailable'],
];

const CASES: readonly Case[] = [
  ['fails', 'resourceMetadata', failsWith(500), 'temporarily_unavailable'],
  ['fails', 'metadata', failsWith(500), 'temporarily_unavailable'],
  ['fails', 'registration', failsWith(503), 'temporarily_unavailable'],
  ['fails', 'token', failsWith(500), 'temporarily_unavailable'],
  [
    'has another issuer',
    'metadata',
    sendsMembers({ issuer: 'https://a.example' }),
    'configuration_error',
  ],
  [
    'has no S256',
    'metadata',
    sendsMembers({ code_challenge_methods_supported: ['plain'] }),
    'configuration_error',
  ],
  [
    'is of another resource',
    'resourceMetadata',
    sendsMembers({ resource: 'https://a.example/mcp' }),
    'configuration_error',
  ],
  [
    'leads inside',
    'resourceMetadata',
    sendsMembers({ authorization_servers: [INSIDE] }),
    'configuration_error',
  ],
  ['leads inside', 'metadata', sendsMembers({ token_endpoint: INSIDE }), 'configuration_error'],
  ['sends a page', 'resourceMetadata', sendsHtml, 'configuration_error'],
  ['sends a page', 'metadata', sendsHtml, 'configuration_error'],
  ['sends a page', 'registration', sendsHtml, 'configuration_error'],
  ['sends a page', 'token', sendsHtml, 'temporarily_unavailable'],
  ['redirects to itself', 'metadata', redirects(), 'configuration_error'],
  ['redirects to itself', 'token', redirects(undefined, 307), 'temporarily_unavailable'],
  ['refuses', 'registration', sendsError('invalid_client_metadata', 400), 'configuration_error'],
  ['refuses the code', 'token', sendsError('invalid_grant', 400), 'server_error'],
  ['refuses the client', 'token', sendsError('invalid_client', 401), 'configuration_error'],
  ['refuses as success', 'token', sendsError('invalid_grant'), 'server_error'],
  ['sends a form', 'token', sendsForm, null],
  ['gives no type', 'token', sendsMembers({ token_type: undefined }), 'server_error'],
  ['gives a type of its own', 'token', sendsMembers({ token_type: 'mac' }), 'server_error'],
  ['gives no life', 'token', sendsMembers({ expires_in: undefined }), null],
  ['gives a life of zero', 'token', sendsMembers({ expires_in: 0 }), null],
  ['gives a life as a text', 'token', sendsMembers({ expires_in: '3600' }), null],
  ['gives a life without end', 'token', sendsMembers({ expires_in: 1e300 }), null],
  [
    'gives a token for a header of two lines',
    'token',
    sendsMembers({ access_token: 'a\r\nb: c' }),
    'server_error',
  ],
  [
    'says no',
    'authorization',
    sendsBack({ code: undefined, error: 'access_denied' }),
    'access_denied',
  ],
  [
    'comes from another issuer',
    'authorization',
    sendsBack({ iss: 'https://a.example' }),
    'server_error',
  ],
  [
    'does not say where it comes from',
    'authorization',
    sendsBack({ iss: undefined }),
    'server_error',
  ],
];

interface World extends AsyncDisposable {
  readonly users: GatewayWithUsers;
  readonly server: ScriptedAuthorizationServer;
  readonly url: string;
  readonly app: string;
}

async function startWorld(): Promise<World> {
  await using opening = new AsyncDisposableStack();
  const server = opening.use(await startScriptedAuthorizationServer());
  const application = opening.use(await startUpstream((_message, response) => response.end()));
  const users = opening.use(await startGatewayWithUsers());
  const [url, app] = [users.originOf('mcp'), users.originOf('app')];
  const access = { allowAnyAuthenticatedUser: true };
  const mcp = { server: { path: '/mcp', upstreamOauth2: {} } };
  await users.configure(
    {
      mcp: { ...access, from: url, to: server.origin, mcp },
      app: { ...access, from: app, to: application.origin, mcp: { client: {} } },
    },
    { mcpAllowedAsMetadataDomains: ['localhost'] },
  );
  const opened = opening.move();
  return { users, server, url, app, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** What an application is told whose user comes back from connecting: null, or `connect_error`. */
async function connectErrorIn({ url, app }: World): Promise<string | null> {
  const start = `${url}/.gateway/mcp/connect?redirect_url=${encodeURIComponent(`${app}/back`)}`;
  const page = await walkThroughForms(new BrowserJar(), start, { loginAt: () => 'alice' });
  expect(page.url).toContain(`${app}/back`);
  return new URL(page.url).searchParams.get('connect_error');
}

/** The OAuth error that a waiting MCP client is told; null if it gets a code. */
async function clientErrorIn({ url }: World): Promise<string | null> {
  const found = await discover(url);
  const redirect = await authorize(found, await register(found));
  return redirect.searchParams.get('error');
}

/** Error codes of RFC 6749, section 4.1.2.1, that stand for a `connect_error`. */
const CLIENT_ERRORS: Readonly<Record<string, string>> = {
  access_denied: 'access_denied',
  temporarily_unavailable: 'temporarily_unavailable',
  server_error: 'server_error',
  configuration_error: 'server_error',
};

async function expectOutcome([, endpoint, script, connectError]: Case): Promise<void> {
  await using world = await startWorld();
  world.server.script(endpoint, script);
  expect(await connectErrorIn(world)).toBe(connectError);
  await using other = await startWorld();
  other.server.script(endpoint, script);
  const clientError = connectError === null ? null : CLIENT_ERRORS[connectError];
  expect(await clientErrorIn(other)).toBe(clientError);
  const log = JSON.stringify(world.users.gateway.logs());
  expect(log).not.toContain('private words of the server');
  for (const token of world.server.issued) expect(log).not.toContain(token);
  expect(log).toContain('upstream OAuth call');
}

describe('an upstream’s server that misbehaves', () => {
  test.each(CASES)('%s (%s)', (...each) => expectOutcome(each));

  test('keeps silent, or sends without end', async () => {
    await Promise.all(SILENT.map((each) => expectOutcome(each)));
  });
});

verifies(
  'upstream-oauth.misbehaving',
  'a server that works again connects the user at the next attempt',
  async () => {
    await using world = await startWorld();
    world.server.script('token', failsWith(500));
    expect(await connectErrorIn(world)).toBe('temporarily_unavailable');
    world.server.script('token', undefined);
    expect(await connectErrorIn(world)).toBeNull();
  },
);
