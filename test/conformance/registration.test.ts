import { describe, expect, test } from '@jest/globals';
import { registerClient } from '@modelcontextprotocol/sdk/client/auth.js';

import { compiledSettings } from '../support/compiled-settings.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  aRoute,
  ISSUER,
  LOOPBACK_CALLBACK,
  startAuthorizationServer,
  type Reply,
  type SendOptions,
  type TestServer,
} from '../support/authorization-server.ts';
import {
  authorizationUrl,
  fieldsOf,
  obtainCode,
  redeem,
  refresh,
  register,
  revoke,
  tokensOf,
  type RegisteredTestClient,
} from '../support/client-flow.ts';

const REGISTER = `${ISSUER}/.gateway/mcp/register`;
const TOKEN = `${ISSUER}/.gateway/mcp/token`;
const REDIRECT_URIS = [LOOPBACK_CALLBACK];

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Clients that are not used are forgotten after an hour. */
const SHORT_LIVED = compiledSettings({
  gatewayId: 'gatehouse/test',
  unusedClientSeconds: 3600,
  tokens: { ...compiledSettings().tokens, refreshTokenSeconds: 3600 },
});

/** What a client or its user does, a while after everything that had to come before. */
type Use = (server: TestServer, client: RegisteredTestClient, later: () => void) => Promise<void>;

const USES: readonly (readonly [title: string, use: Use])[] = [
  [
    'its approval',
    async (server, client, later) => {
      later();
      await obtainCode(server, client);
    },
  ],
  [
    'refreshing',
    async (server, client, later) => {
      const code = await obtainCode(server, client);
      const { refreshToken } = tokensOf(await redeem(server, code, client));
      later();
      expect((await refresh(server, refreshToken, client)).status).toBe(200);
    },
  ],
];

/** What anybody can do who has registered a client. */
const NO_USES: readonly (readonly [title: string, use: Use])[] = [
  [
    'an authorization request',
    async (server, client, later) => {
      later();
      expect((await server.send(authorizationUrl(client.id))).status).toBe(303);
    },
  ],
  [
    'a look at the consent page',
    async (server, client, later) => {
      const { headers } = await server.send(authorizationUrl(client.id));
      const cookie = await server.signIn();
      later();
      const page = await server.send(headers.location ?? '', { headers: { cookie } });
      expect(page.status).toBe(200);
    },
  ],
  [
    'a token request that is refused',
    async (server, client, later) => {
      later();
      expect(await tokenErrorOf(server, { client_id: client.id })).toBe('invalid_grant');
    },
  ],
  [
    'revoking what is no token',
    async (server, client, later) => {
      later();
      expect((await revoke(server, 'x', client)).status).toBe(200);
    },
  ],
];

type Members = Readonly<Record<string, unknown>>;

function post(server: TestServer, members: unknown, options: SendOptions = {}): Promise<Reply> {
  return server.send(REGISTER, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof members === 'string' ? members : JSON.stringify(members),
    ...options,
  });
}

/** What the token endpoint says to a client: `invalid_grant` when it knows who it is. */
async function tokenErrorOf(server: TestServer, form: Members, url = TOKEN): Promise<unknown> {
  const parameters = { grant_type: 'authorization_code', code: 'x', code_verifier: 'x', ...form };
  const reply = await server.send(url, { method: 'POST', form: parameters });
  return fieldsOf(reply)['error'];
}

describe('Client registration (RFC 7591)', () => {
  verifies('as.registration', 'gives a public client an id and no secret', async () => {
    await using server = await startAuthorizationServer();
    const reply = await post(server, {
      client_name: 'Files',
      client_uri: 'https://client.example/',
      redirect_uris: REDIRECT_URIS,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      scope: 'files:read',
      logo_uri: 'https://client.example/logo.png',
    });
    expect(reply.status).toBe(201);
    expect(reply.headers['content-type']).toBe('application/json');
    expect(fieldsOf(reply)).toEqual({
      client_id: expect.stringMatching(/^[\da-f-]{36}$/),
      client_id_issued_at: Math.floor(server.clock.now / 1000),
      client_name: 'Files',
      client_uri: 'https://client.example/',
      redirect_uris: REDIRECT_URIS,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      scope: 'files:read',
    });
  });

  verifies(
    ['as.registration', 'as.registration-defaults'],
    'gives a client a secret where it does not say otherwise',
    async () => {
      await using server = await startAuthorizationServer();
      const fields = fieldsOf(await post(server, { redirect_uris: REDIRECT_URIS }));
      expect(fields).toEqual({
        client_id: expect.any(String),
        client_id_issued_at: expect.any(Number),
        client_secret: expect.stringMatching(/^[\w-]{43}$/),
        client_secret_expires_at: 0,
        redirect_uris: REDIRECT_URIS,
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
      });
    },
  );

  verifies('as.no-store', 'answers with a secret that no cache may keep', async () => {
    await using server = await startAuthorizationServer();
    const { headers } = await post(server, { redirect_uris: REDIRECT_URIS });
    expect(headers['cache-control']).toBe('no-store');
  });

  verifies(
    ['as.registration', 'as.client-authentication'],
    'accepts the secret it gave, and no other',
    async () => {
      await using server = await startAuthorizationServer();
      const { client_id, client_secret } = fieldsOf(
        await post(server, { redirect_uris: REDIRECT_URIS }),
      );
      expect(await tokenErrorOf(server, { client_id, client_secret })).toBe('invalid_grant');
      expect(await tokenErrorOf(server, { client_id, client_secret: 'x' })).toBe('invalid_client');
      expect(await tokenErrorOf(server, { client_id })).toBe('invalid_client');
    },
  );

  verifies(
    'as.secrets-unreadable',
    'keeps the hash of a secret only, and logs nothing but id and name',
    async () => {
      await using server = await startAuthorizationServer();
      const reply = await post(server, {
        client_name: 'Files\u202e',
        client_uri: 'https://client.example/private',
        redirect_uris: REDIRECT_URIS,
      });
      const { client_id, client_secret } = fieldsOf(reply);
      const kept = await server.stores.clients.get(ISSUER, String(client_id));
      expect(JSON.stringify(kept)).not.toContain(String(client_secret));
      expect(server.logged).toEqual([
        {
          message: 'client registered',
          fields: {
            'request-id': reply.headers['x-request-id'],
            issuer: ISSUER,
            'client-id': client_id,
            'client-name': 'Files',
          },
        },
      ]);
    },
  );

  verifies(
    'as.registration-ids',
    'gives every registration an id of its own, which is no URL',
    async () => {
      await using server = await startAuthorizationServer();
      const members = { redirect_uris: REDIRECT_URIS, client_id: 'https://evil.example/client' };
      const ids = await Promise.all(
        [1, 2, 3].map(async () => fieldsOf(await post(server, members))['client_id']),
      );
      expect(new Set(ids).size).toBe(3);
      expect(ids.join()).not.toContain('https://');
    },
  );

  verifies('as.bound-to-issuer', 'is good at its own issuer only', async () => {
    const other = 'https://other.example.com';
    await using server = await startAuthorizationServer({
      routes: [aRoute(), aRoute({ host: 'other.example.com' })],
    });
    const { client_id } = fieldsOf(
      await post(server, { redirect_uris: REDIRECT_URIS, token_endpoint_auth_method: 'none' }),
    );
    expect(await tokenErrorOf(server, { client_id })).toBe('invalid_grant');
    const elsewhere = await tokenErrorOf(server, { client_id }, `${other}/.gateway/mcp/token`);
    expect(elsewhere).toBe('invalid_client');
  });

  verifies('as.registration-expires', 'is forgotten after two hours without approval', async () => {
    await using server = await startAuthorizationServer();
    const { id } = await register(server);
    server.clock.now += 2 * HOUR - SECOND;
    expect(await tokenErrorOf(server, { client_id: id })).toBe('invalid_grant');
    server.clock.now += SECOND;
    expect(await tokenErrorOf(server, { client_id: id })).toBe('invalid_client');
  });

  verifies('as.registration-expires', 'is forgotten sooner where settings say so', async () => {
    await using server = await startAuthorizationServer({ settings: SHORT_LIVED });
    const { id } = await register(server);
    server.clock.now += HOUR;
    expect(await tokenErrorOf(server, { client_id: id })).toBe('invalid_client');
  });

  for (const [title, use] of USES) {
    verifies('as.registration-expires', `is remembered anew after ${title}`, async () => {
      await using server = await startAuthorizationServer({ settings: SHORT_LIVED });
      const client = await register(server);
      await use(server, client, () => (server.clock.now += MINUTE));
      server.clock.now += HOUR - SECOND;
      expect(await server.stores.clients.get(ISSUER, client.id)).not.toBeNull();
      server.clock.now += SECOND;
      expect(await server.stores.clients.get(ISSUER, client.id)).toBeNull();
    });
  }

  // Anybody may register, and what is registered takes memory.
  for (const [title, use] of NO_USES) {
    verifies('as.registration-expires', `is not remembered for ${title}`, async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      await use(server, client, () => (server.clock.now += MINUTE));
      server.clock.now += 2 * HOUR - MINUTE;
      expect(await server.stores.clients.get(ISSUER, client.id)).toBeNull();
    });
  }

  verifies('as.registration-expires', 'is remembered, once approved, as settings say', async () => {
    const settings = { ...SHORT_LIVED, unusedClientSeconds: 7200 };
    await using server = await startAuthorizationServer({ settings });
    const client = await register(server);
    await obtainCode(server, client);
    server.clock.now += 2 * HOUR - SECOND;
    expect(await server.stores.clients.get(ISSUER, client.id)).not.toBeNull();
    server.clock.now += SECOND;
    expect(await server.stores.clients.get(ISSUER, client.id)).toBeNull();
  });

  verifies(
    'as.registration-expires',
    'is remembered while its refresh token can be used',
    async () => {
      const tokens = { ...SHORT_LIVED.tokens, refreshTokenSeconds: 7200 };
      await using server = await startAuthorizationServer({ settings: { ...SHORT_LIVED, tokens } });
      const client = await register(server);
      const first = tokensOf(await redeem(server, await obtainCode(server, client), client));
      server.clock.now += 2 * HOUR - SECOND;
      expect((await refresh(server, first.refreshToken, client)).status).toBe(200);
    },
  );

  verifies('as.registration', 'is what the official SDK expects', async () => {
    await using server = await startAuthorizationServer();
    const client = await registerClient(ISSUER, {
      clientMetadata: { client_name: 'SDK', redirect_uris: REDIRECT_URIS },
      fetchFn: async (_url, init) => {
        const { status, body } = await post(server, init?.body);
        return new Response(body, { status });
      },
    });
    expect(client).toMatchObject({ client_name: 'SDK', client_secret_expires_at: 0 });
  });
});

describe('Client registration refuses', () => {
  const REFUSED: readonly (readonly [string, unknown, string])[] = [
    ['no redirect URIs', {}, 'invalid_redirect_uri'],
    ['an empty list of redirect URIs', { redirect_uris: [] }, 'invalid_redirect_uri'],
    [
      'more than twenty redirect URIs',
      { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://c.example/${String(n)}`) },
      'invalid_redirect_uri',
    ],
    [
      'a redirect URI without end',
      { redirect_uris: [`https://c.example/${'x'.repeat(2048)}`] },
      'invalid_redirect_uri',
    ],
    [
      'a redirect URI with a fragment',
      { redirect_uris: ['https://c.example/#a'] },
      'invalid_redirect_uri',
    ],
    [
      'redirect URIs that are no list',
      { redirect_uris: 'https://c.example/' },
      'invalid_client_metadata',
    ],
    [
      'an unknown way to authenticate',
      { redirect_uris: REDIRECT_URIS, token_endpoint_auth_method: 'x' },
      'invalid_client_metadata',
    ],
    [
      'the implicit grant',
      { redirect_uris: REDIRECT_URIS, grant_types: ['implicit'] },
      'invalid_client_metadata',
    ],
    [
      'a private key',
      {
        redirect_uris: REDIRECT_URIS,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ kty: 'EC', d: 'd' }] },
      },
      'invalid_client_metadata',
    ],
    [
      'keys on a domain that is not allowed, which it would have to fetch',
      {
        redirect_uris: REDIRECT_URIS,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: 'https://internal.example/keys',
      },
      'invalid_client_metadata',
    ],
    ['what is no JSON', '{"redirect_uris":', 'invalid_client_metadata'],
    ['a list', [], 'invalid_client_metadata'],
    ['null', 'null', 'invalid_client_metadata'],
    ['nothing', '', 'invalid_client_metadata'],
  ];

  for (const [title, members, error] of REFUSED) {
    verifies('as.registration-errors', title, async () => {
      await using server = await startAuthorizationServer();
      const reply = await post(server, members);
      expect(reply.status).toBe(400);
      expect(reply.headers['content-type']).toBe('application/json');
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(fieldsOf(reply)).toEqual({ error, error_description: expect.any(String) });
      expect(server.logged).toEqual([]);
    });
  }

  for (const uri of [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'http://client.example/callback',
    'https://user@client.example/',
    'unheard-of://callback',
  ]) {
    verifies(
      ['as.redirect-uri-allowed', 'as.registration-errors'],
      `a redirect to ${uri}`,
      async () => {
        await using server = await startAuthorizationServer();
        const reply = await post(server, { redirect_uris: [uri] });
        expect(reply.status).toBe(400);
        expect(fieldsOf(reply)).toMatchObject({ error: 'invalid_redirect_uri' });
      },
    );
  }

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
    verifies('as.registration-errors', `a body of type ${JSON.stringify(type)}`, async () => {
      await using server = await startAuthorizationServer();
      const reply = await post(
        server,
        { redirect_uris: REDIRECT_URIS },
        { headers: { 'content-type': type } },
      );
      expect(reply.status).toBe(400);
      expect(fieldsOf(reply)).toMatchObject({ error: 'invalid_client_metadata' });
    });
  }

  test('a body that is too long', async () => {
    await using server = await startAuthorizationServer();
    const reply = await post(server, {
      redirect_uris: REDIRECT_URIS,
      padding: 'x'.repeat(16 * 1024),
    });
    expect(reply.status).toBe(413);
    expect(fieldsOf(reply)).toMatchObject({ error: 'invalid_request' });
  });

  test('any other method than POST', async () => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(REGISTER);
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe('POST');
  });
});

describe('Client registration', () => {
  verifies(
    ['as.redirect-uri-allowed', 'as.application-type'],
    'accepts the redirect URIs of Cursor',
    async () => {
      await using server = await startAuthorizationServer();
      const redirectUris = [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ];
      const reply = await post(server, {
        client_name: 'Cursor',
        application_type: 'web',
        redirect_uris: redirectUris,
        token_endpoint_auth_method: 'none',
      });
      expect(reply.status).toBe(201);
      expect(fieldsOf(reply)).toMatchObject({ redirect_uris: redirectUris });
    },
  );

  verifies(
    'as.registration',
    'says which redirect URIs it registered of a mixed list',
    async () => {
      await using server = await startAuthorizationServer();
      const reply = await post(server, { redirect_uris: ['unheard-of://cb', LOOPBACK_CALLBACK] });
      expect(reply.status).toBe(201);
      expect(fieldsOf(reply)).toMatchObject({ redirect_uris: [LOOPBACK_CALLBACK] });
    },
  );

  verifies(
    'as.registration-rate-limited',
    'is limited to twenty a minute per address',
    async () => {
      await using server = await startAuthorizationServer();
      const attempt = (): Promise<Reply> => post(server, { redirect_uris: REDIRECT_URIS });
      const replies = await Promise.all(Array.from({ length: 20 }, attempt));
      expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(201));
      const refused = await attempt();
      expect(refused.status).toBe(429);
      expect(refused.headers['retry-after']).toBe('60');
      server.clock.now += 60_000;
      expect((await attempt()).status).toBe(201);
    },
  );

  verifies('as.registration-rate-limited', 'counts refused registrations too', async () => {
    await using server = await startAuthorizationServer();
    for (let index = 0; index < 20; index += 1) await post(server, {});
    expect((await post(server, { redirect_uris: REDIRECT_URIS })).status).toBe(429);
  });

  verifies('as.cors', 'answers pages of any origin, without credentials', async () => {
    await using server = await startAuthorizationServer();
    const { headers } = await post(server, { redirect_uris: REDIRECT_URIS });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });
});
