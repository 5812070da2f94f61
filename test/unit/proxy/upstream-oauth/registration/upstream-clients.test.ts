import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import {
  CALLBACK,
  startUpstreamSite,
  status,
  type SitePage,
  type UpstreamSite,
} from '../../../../support/upstream-oauth/upstream-site.ts';

const SERVER = 'login.example/.well-known/oauth-authorization-server';
const ENDPOINT = 'login.example/register';
const HOUR_MS = 3_600_000;

let site: UpstreamSite;

beforeEach(async () => {
  site = await startUpstreamSite();
});

afterEach(async () => {
  await site[Symbol.asyncDispose]();
});

function server(changes: object): void {
  site.pages.set(SERVER, site.serverMetadata(changes));
}

/** Registers clients with these members besides those that were asked for. */
function registerWith(members: object, code = 201): SitePage {
  return ({ body }, response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...(JSON.parse(body) as object), client_id: 'new', ...members }));
  };
}

function refusal(error: string, code = 400): SitePage {
  return (_request, response) => {
    response.writeHead(code, { 'content-type': 'application/json', 'www-authenticate': 'Basic' });
    response.end(JSON.stringify({ error }));
  };
}

function registrationsMade(): number {
  return site.requests.filter((request) => request === `POST ${ENDPOINT}`).length;
}

describe('registration', () => {
  test('is asked for with what the gateway is', async () => {
    expect((await site.discover()).client).toEqual({
      id: 'registered-1',
      secret: 'secret of registered-1',
      authMethod: 'client_secret_basic',
      source: 'registered',
      registeredAt: site.now,
    });
    expect(site.registrations).toEqual([
      {
        client_name: 'Gatehouse at tickets.gateway.test',
        client_uri: 'https://tickets.gateway.test',
        application_type: 'web',
        redirect_uris: [CALLBACK],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
        scope: 'read write',
      },
    ]);
  });

  test('is for all scopes that the server lists, because an upstream may want more later', async () => {
    server({ scopes_supported: ['read', 'admin'] });
    await site.discover();
    expect(site.registrations).toMatchObject([{ scope: 'read write admin' }]);
  });

  test('is for all scopes that the upstream lists, if the server lists none', async () => {
    const challenge = { 'www-authenticate': 'Bearer scope="read"' };
    site.pages.set('mcp.example/tools/mcp', status(401, challenge));
    expect((await site.discover()).scopes).toEqual(['read']);
    expect(site.registrations).toMatchObject([{ scope: 'read write' }]);
  });

  test('is for the scopes of now if the server refuses the others', async () => {
    server({ scopes_supported: ['read', 'admin'] });
    site.pages.set(ENDPOINT, ({ body }, response) => {
      const isRefused = body.includes('admin');
      const answer = isRefused
        ? { error: 'invalid_client_metadata' }
        : { ...(JSON.parse(body) as object), client_id: 'new', client_secret: 's' };
      response.writeHead(isRefused ? 400 : 201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...answer, client_secret_expires_at: 0 }));
    });
    expect(await site.discover()).toMatchObject({ client: { id: 'new' } });
    expect(registrationsMade()).toBe(2);
  });

  test('happens once, for connections one after the other and at the same time', async () => {
    const found = await Promise.all([site.discover(), site.discover(), site.discover()]);
    found.push(await site.discover());
    expect(new Set(found.map(({ client }) => client.id))).toEqual(new Set(['registered-1']));
    expect(registrationsMade()).toBe(1);
  });

  test('happens again at another authorization server, and none is used at another', async () => {
    const { issuer, client } = await site.discover();
    const other = site.url('other.example');
    site.pages.set('mcp.example/.well-known/oauth-protected-resource/tools/mcp', {
      resource: site.url('mcp.example', '/tools/mcp'),
      authorization_servers: [other],
    });
    site.pages.set(
      'other.example/.well-known/oauth-authorization-server',
      site.serverMetadata({ issuer: other }),
    );
    expect(await site.discover()).toMatchObject({ issuer: other, client: { id: 'registered-2' } });
    expect(await site.forIssuer({ issuer: other, clientId: client.id })).toBeNull();
    expect(await site.forIssuer({ issuer, clientId: client.id })).toMatchObject({ client });
  });

  test('happens again once the server has forgotten the client', async () => {
    const { issuer, client } = await site.discover();
    await site.authorizations.forgetRegistration(issuer, CALLBACK, client.id);
    expect(await site.forIssuer({ issuer, clientId: client.id })).toBeNull();
    expect(await site.discover()).toMatchObject({ client: { id: 'registered-2' } });
    // A second refusal of the first client comes late.
    await site.authorizations.forgetRegistration(issuer, CALLBACK, client.id);
    expect(await site.discover()).toMatchObject({ client: { id: 'registered-2' } });
  });

  test.each<[string, SitePage, number]>([
    ['knows the client', refusal('invalid_grant'), 1],
    ['wants another grant', refusal('unsupported_grant_type'), 1],
    ['is down', status(503), 1],
    ['answers with a page', status(404), 1],
    ['does not know the client', refusal('invalid_client', 401), 2],
  ])('later is checked before a user is sent to a server that %s', async (_title, page, id) => {
    await site.discover();
    site.pages.set('login.example/token', page);
    site.now += 9 * 60_000;
    expect(await site.discover()).toMatchObject({ client: { id: 'registered-1' } });
    expect(site.requests).not.toContain('POST login.example/token');
    site.now += 60_000;
    const client = { id: `registered-${String(id)}` };
    expect(await site.discover()).toMatchObject({ client });
    expect(await site.discover()).toMatchObject({ client });
    const checks = site.requests.filter((request) => request === 'POST login.example/token');
    expect(checks).toHaveLength(1);
  });

  test('happens again before the secret expires', async () => {
    const expires = Math.floor((site.now + HOUR_MS) / 1000);
    site.pages.set(
      ENDPOINT,
      registerWith({ client_secret: 's', client_secret_expires_at: expires }),
    );
    await site.discover();
    site.now += HOUR_MS / 2;
    await site.discover();
    expect(registrationsMade()).toBe(1);
    site.now += HOUR_MS / 2 - 1;
    await site.discover();
    expect(registrationsMade()).toBe(2);
  });

  test.each([
    ['what was asked for', {}, ['none'], { id: 'new', authMethod: 'none' }],
    [
      'a method that the server chose',
      {
        token_endpoint_auth_method: 'client_secret_post',
        client_secret: 's',
        client_secret_expires_at: 0,
      },
      ['none'],
      { id: 'new', secret: 's', authMethod: 'client_secret_post' },
    ],
    [
      'a secret that it does not need',
      { client_secret: 's', client_secret_expires_at: 0 },
      ['none'],
      { id: 'new', authMethod: 'none' },
    ],
    [
      'a secret without a word about its life',
      { client_secret: 's' },
      ['client_secret_basic'],
      { id: 'new', secret: 's', authMethod: 'client_secret_basic' },
    ],
    ['no redirect URIs', { redirect_uris: undefined }, ['none'], { id: 'new', authMethod: 'none' }],
  ])('may give %s', async (_title, members, listed, client) => {
    server({ token_endpoint_auth_methods_supported: listed });
    site.pages.set(ENDPOINT, registerWith(members));
    expect((await site.discover()).client).toEqual({
      ...client,
      source: 'registered',
      registeredAt: site.now,
    });
  });

  test('may be answered with 200', async () => {
    site.pages.set(ENDPOINT, registerWith({ client_secret: 's' }, 200));
    expect(await site.discover()).toMatchObject({ client: { id: 'new' } });
  });

  test.each<[string, SitePage]>([
    [
      'other redirect URIs',
      registerWith({ client_secret: 's', redirect_uris: ['https://evil.test/'] }),
    ],
    [
      'redirect URIs that are no list',
      registerWith({ client_secret: 's', redirect_uris: CALLBACK }),
    ],
    [
      'a method that the gateway does not have',
      registerWith({ client_secret: 's', token_endpoint_auth_method: 'private_key_jwt' }),
    ],
    ['a secret method without a secret', registerWith({})],
    ['no client id', registerWith({ client_id: undefined, client_secret: 's' })],
    ['a client id with line breaks', registerWith({ client_id: 'a\nb', client_secret: 's' })],
    ['a client id that is a number', registerWith({ client_id: 7, client_secret: 's' })],
    ['HTML', (_request, response) => response.writeHead(201).end('<html>')],
    [
      'an error',
      (_request, response) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end('{"error":"invalid_redirect_uri","error_description":"secret-of-the-body"}');
      },
    ],
    ['a status without a body', status(403)],
    ['a challenge', status(401, { 'www-authenticate': 'Bearer' })],
    ['a redirect', status(307, { location: 'https://evil.test/' })],
  ])('that gives %s is refused, and the next connection tries again', async (_title, page) => {
    server({ token_endpoint_auth_methods_supported: ['client_secret_basic'] });
    site.pages.set(ENDPOINT, page);
    const error: unknown = await site.discover().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      reason: 'upstream-auth-registration-refused',
      step: 'registration',
      missing: { setting: 'mcp.server.upstreamOauth2.clientId' },
    });
    expect(String(error)).not.toContain('secret-of-the-body');
    await expect(site.discover()).rejects.toThrow();
    expect(registrationsMade()).toBe(2);
  });

  test.each([500, 503])('that fails with %i is not refused for good', async (code) => {
    site.pages.set(ENDPOINT, status(code));
    await expect(site.discover()).rejects.toMatchObject({
      isTemporary: true,
      step: 'registration',
    });
  });

  test('that no endpoint takes needs a client of the operator', async () => {
    server({ registration_endpoint: undefined });
    await expect(site.discover()).rejects.toMatchObject({
      reason: 'upstream-auth-no-registration',
      missing: { setting: 'mcp.server.upstreamOauth2.clientId' },
    });
  });

  test('is not tried at a server whose methods of authentication the gateway does not have', async () => {
    server({ token_endpoint_auth_methods_supported: ['private_key_jwt'] });
    await expect(site.discover()).rejects.toMatchObject({
      reason: 'upstream-auth-registration-refused',
    });
    expect(registrationsMade()).toBe(0);
  });
});
