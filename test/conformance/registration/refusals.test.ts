import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import { LOOPBACK_CALLBACK, startAuthorizationServer } from '../../support/authorization-server.ts';
import { fieldsOf } from '../../support/client-flow.ts';
import { post, REGISTER } from '../../support/registration-cases.ts';

const REDIRECT_URIS = [LOOPBACK_CALLBACK];

describe('Client registration', () => {
  const REFUSED: readonly (readonly [string, unknown, string])[] = [
    ['no redirect URIs', {}, 'invalid_redirect_uri'],
    ['an empty list of redirect URIs', { redirect_uris: [] }, 'invalid_redirect_uri'],
    [
      'more than twenty redirect URIs',
      { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://c.example/${String(n)}`) },
      'invalid_redirect_uri',
    ],
    [
      'a redirect URI that is too long',
      { redirect_uris: [`https://c.example/${'x'.repeat(2048)}`] },
      'invalid_redirect_uri',
    ],
    [
      'a redirect URI with a fragment',
      { redirect_uris: ['https://c.example/#a'] },
      'invalid_redirect_uri',
    ],
    [
      'redirect URIs that are not a list',
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
    ['a body that is not JSON', '{"redirect_uris":', 'invalid_client_metadata'],
    ['a body that is a list', [], 'invalid_client_metadata'],
    ['a body of null', 'null', 'invalid_client_metadata'],
    ['an empty body', '', 'invalid_client_metadata'],
    [
      'a duplicate key, of which another parser reads the first',
      `{"redirect_uris":["https://a.example/"],"redirect_uris":["${LOOPBACK_CALLBACK}"]}`,
      'invalid_client_metadata',
    ],
    [
      'a duplicate key that is written with escapes',
      `{"redirect_uris":["${LOOPBACK_CALLBACK}"],"client_name":"A","client\\u005fname":"B"}`,
      'invalid_client_metadata',
    ],
    [
      'a duplicate key in its keys',
      `{"redirect_uris":["${LOOPBACK_CALLBACK}"],"jwks":{"keys":[{"kty":"RSA","kty":"EC"}]}}`,
      'invalid_client_metadata',
    ],
    [
      'a key with U+0000',
      `{"redirect_uris":["${LOOPBACK_CALLBACK}"],"client_name\\u0000":"B"}`,
      'invalid_client_metadata',
    ],
  ];

  for (const [title, members, error] of REFUSED) {
    verifies('as.registration-errors', `the registration endpoint refuses ${title}`, async () => {
      await using server = await startAuthorizationServer();
      const reply = await post(server, members);
      expect(reply.status).toBe(400);
      expect(reply.headers['content-type']).toBe('application/json');
      expect(reply.headers['cache-control']).toBe('no-store');
      expect(fieldsOf(reply)).toEqual({
        ...{ error, error_description: expect.any(String) },
        request_id: reply.headers['x-request-id'],
      });
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
      `the registration endpoint refuses a redirect to ${uri}`,
      async () => {
        await using server = await startAuthorizationServer();
        const reply = await post(server, { redirect_uris: [uri] });
        expect(reply.status).toBe(400);
        expect(fieldsOf(reply)).toMatchObject({ error: 'invalid_redirect_uri' });
      },
    );
  }

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
    verifies(
      'as.registration-errors',
      `the registration endpoint refuses a body of type ${JSON.stringify(type)}`,
      async () => {
        await using server = await startAuthorizationServer();
        const reply = await post(
          server,
          { redirect_uris: REDIRECT_URIS },
          { headers: { 'content-type': type } },
        );
        expect(reply.status).toBe(400);
        expect(fieldsOf(reply)).toMatchObject({ error: 'invalid_client_metadata' });
      },
    );
  }

  test('the registration endpoint refuses a body that is too long', async () => {
    await using server = await startAuthorizationServer();
    const reply = await post(server, {
      redirect_uris: REDIRECT_URIS,
      padding: 'x'.repeat(16 * 1024),
    });
    expect(reply.status).toBe(413);
    expect(fieldsOf(reply)).toMatchObject({ error: 'invalid_request' });
  });

  test('the registration endpoint refuses metadata of more than 4 KiB, which it would store', async () => {
    await using server = await startAuthorizationServer();
    const uris = (length: number): readonly string[] =>
      [1, 2].map((n) => `https://c.example/${String(n)}/${'x'.repeat(length)}`);
    expect((await post(server, { redirect_uris: uris(1800) })).status).toBe(201);
    const reply = await post(server, { redirect_uris: uris(2000) });
    expect(reply.status).toBe(400);
    expect(fieldsOf(reply)).toMatchObject({
      error: 'invalid_client_metadata',
      error_description: 'the metadata are longer than 4096 bytes',
    });
    // What is not stored may be longer.
    const ignored = { software_statement: 'x'.repeat(8 * 1024) };
    const members = { redirect_uris: REDIRECT_URIS, ...ignored };
    expect((await post(server, members)).status).toBe(201);
  });

  test('the registration endpoint refuses every method but POST', async () => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(REGISTER);
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe('POST');
  });
});
