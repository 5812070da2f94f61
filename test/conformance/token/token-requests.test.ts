import { describe, expect, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { verifies } from '../../requirements/verifies.ts';
import {
  ISSUER,
  LOOPBACK_CALLBACK,
  startAuthorizationServer,
  VERIFIER,
  type Reply,
  type TestServer,
} from '../../support/authorization-server.ts';
import {
  logIn,
  obtainCode,
  redeem,
  refresh,
  register,
  TOKEN_URL,
  tokensOf,
} from '../../support/client-flow.ts';
import { type Changes, expectError, MINUTE, STRICT } from '../../support/token-cases.ts';

describe('The token endpoint', () => {
  async function expectRefused(changes: Changes, code: string): Promise<void> {
    await using server = await startAuthorizationServer();
    expectError(await redeem(server, 'x', await register(server), changes), 400, code);
  }

  const INCOMPLETE: readonly (readonly [string, Changes, string])[] = [
    ['has no grant type', { grant_type: undefined }, 'invalid_request'],
    ['has no code', { code: undefined }, 'invalid_request'],
  ];

  for (const [what, changes, code] of INCOMPLETE) {
    verifies('as.token-errors', `the token endpoint refuses a request that ${what}`, () =>
      expectRefused(changes, code),
    );
  }

  const OTHER_GRANTS: readonly (readonly [string, Changes, string])[] = [
    ['has the password grant', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['has client credentials', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['has a grant type of JavaScript', { grant_type: 'constructor' }, 'unsupported_grant_type'],
  ];

  for (const [what, changes, code] of OTHER_GRANTS) {
    verifies(
      ['as.token-errors', 'as.grant-types'],
      `the token endpoint refuses a request that ${what}`,
      () => expectRefused(changes, code),
    );
  }

  for (const name of ['code', 'client_id', 'code_verifier', 'grant_type', 'unheard_of']) {
    verifies(
      'as.no-repeated-parameters',
      `the token endpoint refuses a request with ${name} twice`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server);
        const form = new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: client.id,
        });
        form.append(name, 'a');
        form.append(name, 'a');
        expectError(await server.send(TOKEN_URL, { form }), 400, 'invalid_request');
      },
    );
  }

  test.each([
    ['JSON', 'application/json'],
    ['multipart', 'multipart/form-data; boundary=x'],
    ['plain text', 'text/plain'],
  ])('the token endpoint refuses a request in %s', async (_what, contentType) => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(TOKEN_URL, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body: '{}',
    });
    expectError(reply, 400, 'invalid_request');
  });

  test('the token endpoint refuses a request without a content type', async () => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(TOKEN_URL, { method: 'POST', body: 'grant_type=x' });
    expectError(reply, 400, 'invalid_request');
  });

  test('the token endpoint accepts a content type with a charset', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const headers = { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' };
    const form = { grant_type: 'x', client_id: client.id };
    expectError(await server.send(TOKEN_URL, { headers, form }), 400, 'unsupported_grant_type');
  });

  test('the token endpoint refuses a compressed request', async () => {
    await using server = await startAuthorizationServer();
    const headers = { 'content-encoding': 'gzip' };
    const form = { grant_type: 'refresh_token' };
    expectError(await server.send(TOKEN_URL, { headers, form }), 400, 'invalid_request');
  });

  test('the token endpoint refuses a request of more than 64 KiB', async () => {
    await using server = await startAuthorizationServer();
    const form = { grant_type: 'refresh_token', refresh_token: 'x'.repeat(64 * 1024) };
    expectError(await server.send(TOKEN_URL, { form }), 413, 'invalid_request');
  });

  verifies(
    'as.parameters-in-body',
    'the token endpoint refuses a request with parameters in the query',
    async () => {
      await using server = await startAuthorizationServer();
      const { refreshToken, client } = await logIn(server);
      const url = `${TOKEN_URL}?client_id=${client.id}`;
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
      expectError(await server.send(url, { form }), 400, 'invalid_request');
    },
  );

  verifies('as.parameters-in-body', 'the token endpoint refuses GET', async () => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(TOKEN_URL);
    expect(reply).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  verifies(
    'as.client-authentication',
    'the token endpoint answers 401 to an unknown client',
    async () => {
      await using server = await startAuthorizationServer();
      expectError(await redeem(server, 'x', { id: 'unknown' }), 401, 'invalid_client');
    },
  );

  verifies(
    'as.cors',
    'the token endpoint accepts requests from pages of any origin, after a preflight request',
    async () => {
      await using server = await startAuthorizationServer();
      const reply = await server.send(TOKEN_URL, {
        method: 'OPTIONS',
        headers: { origin: 'http://localhost:6274', 'access-control-request-method': 'POST' },
      });
      expect(reply).toMatchObject({ status: 204, body: '' });
      expect(reply.headers['access-control-allow-origin']).toBe('*');
      expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
    },
  );

  for (const method of ['client_secret_basic', 'client_secret_post']) {
    verifies(
      ['as.client-authentication', 'as.code-grant'],
      `the token endpoint requires the secret of a client with ${method}, and keeps the code for it`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server, { token_endpoint_auth_method: method });
        const code = await obtainCode(server, client);
        const { id, secret = '' } = client;
        expectError(await redeem(server, code, { id }), 401, 'invalid_client');
        expectError(await redeem(server, code, { id, secret: 'x' }), 401, 'invalid_client');
        const wrong = await redeemWithBasic(server, code, { id, secret: 'wrong' });
        expectError(wrong, 401, 'invalid_client');
        expect(wrong.headers['www-authenticate']).toMatch(/^Basic /);
        expect(await redeemWithBasic(server, code, { id, secret })).toMatchObject({ status: 200 });
      },
    );
  }
});

verifies(
  'as.secrets-unreadable',
  'the log contains no token, code or secret of a sign-in',
  async () => {
    await using server = await startAuthorizationServer({ settings: { tokens: STRICT } });
    const { refreshToken, accessToken, client } = await logIn(server);
    const next = tokensOf(await refresh(server, refreshToken, client));
    await refresh(server, refreshToken, client);
    const code = await obtainCode(server, client);
    await redeem(server, code, client);
    await redeem(server, code, client);
    const log = JSON.stringify(server.logged);
    expect(server.logged.length).toBeGreaterThan(2);
    for (const secret of [refreshToken, accessToken, next.refreshToken, code]) {
      expect(log).not.toContain(secret);
    }
  },
);

function redeemWithBasic(
  server: TestServer,
  code: string,
  { id, secret }: { readonly id: string; readonly secret: string },
): Promise<Reply> {
  const credentials = Buffer.from(`${id}:${secret}`).toString('base64');
  return server.send(TOKEN_URL, {
    headers: { authorization: `Basic ${credentials}` },
    form: {
      ...{ grant_type: 'authorization_code', code },
      ...{ redirect_uri: LOOPBACK_CALLBACK, code_verifier: VERIFIER },
    },
  });
}

describe('The client IDs of unknown clients', () => {
  // Requests without proof could make the gateway fetch one URL after the other.
  for (const endpoint of ['token', 'revoke']) {
    test(`the ${endpoint} endpoint fetches sixty metadata documents a minute for one network`, async () => {
      const known = 'https://app.clients.example/metadata.json';
      await using server = await startAuthorizationServer({
        documents: {
          [known]: { client_id: known, client_name: 'Files', redirect_uris: [LOOPBACK_CALLBACK] },
        },
      });
      const url = `${ISSUER}/.gateway/mcp/${endpoint}`;
      const attempt = async (clientId: string): Promise<number> => {
        const form = { client_id: clientId, token: 'x', grant_type: 'x' };
        return (await server.send(url, { form })).status;
      };
      const knownStatus = await attempt(known);
      for (let index = 1; index < 60; index += 1) {
        expect(await attempt(`https://x${String(index)}.clients.example/a`)).toBe(401);
      }
      expect(await attempt('https://x60.clients.example/a')).toBe(429);
      // The document of a known client is in the cache, so the client is served.
      expect(await attempt(known)).toBe(knownStatus);
      server.clock.now += MINUTE;
      expect(await attempt('https://x60.clients.example/a')).toBe(401);
    });
  }
});

describe('A network', () => {
  // Attack: a stranger keeps the gateway busy with signatures in the name of a client.
  test('may send at most 600 assertions a minute, valid or not', async () => {
    await using server = await startAuthorizationServer();
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const client = await register(server, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [await exportJWK(publicKey)] },
    });
    const stranger = await generateKeyPair('ES256');
    const attempt = async (jti: string, key = privateKey): Promise<number> => {
      const assertion = await new SignJWT({ jti })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(client.id)
        .setSubject(client.id)
        .setAudience(ISSUER)
        .setExpirationTime(Math.floor(server.clock.now / 1000) + 60)
        .sign(key);
      const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
      const form = { grant_type: 'x', client_assertion: assertion, client_assertion_type: type };
      return (await server.send(TOKEN_URL, { form })).status;
    };
    // Attack: strangers register clients, and fill the store of used ids.
    expect(await attempt('one')).toBe(401);
    await server.stores.clients.keepApproved(ISSUER, client.id, 3600);
    expect(await attempt('one')).toBe(400);
    const rest = Array.from({ length: 599 }, () => attempt('forged', stranger.privateKey));
    expect(new Set(await Promise.all(rest))).toEqual(new Set([401]));
    expect(await attempt('two')).toBe(429);
    server.clock.now += MINUTE;
    expect(await attempt('three')).toBe(400);
  });
});
