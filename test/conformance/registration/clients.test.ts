import { describe, expect } from '@jest/globals';
import { registerClient } from '@modelcontextprotocol/sdk/client/auth.js';

import { verifies } from '../../requirements/verifies.ts';
import {
  aRoute,
  ISSUER,
  LOOPBACK_CALLBACK,
  startAuthorizationServer,
} from '../../support/authorization-server.ts';
import { fieldsOf } from '../../support/client-flow.ts';
import { post, tokenErrorOf } from '../../support/registration-cases.ts';

const REDIRECT_URIS = [LOOPBACK_CALLBACK];

describe('Client registration (RFC 7591)', () => {
  verifies('as.registration', 'a public client gets an id and no secret', async () => {
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
    'a client that names no authentication method gets a secret',
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

  verifies('as.no-store', 'a response with a secret must not be cached', async () => {
    await using server = await startAuthorizationServer();
    const { headers } = await post(server, { redirect_uris: REDIRECT_URIS });
    expect(headers['cache-control']).toBe('no-store');
  });

  verifies(
    ['as.registration', 'as.client-authentication'],
    'a client authenticates with its secret and with no other',
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
    'the store has only the hash of a secret, and the log only id and name',
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
            event: 'client-registered',
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
    'every registration gets its own id, which is not a URL',
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

  verifies(
    'as.bound-to-issuer',
    'a client ID is valid only at the issuer of its registration',
    async () => {
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
    },
  );

  verifies(
    'as.registration',
    'the response of the registration endpoint satisfies the official SDK',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await registerClient(ISSUER, {
        clientMetadata: { client_name: 'SDK', redirect_uris: REDIRECT_URIS },
        fetchFn: async (_url, init) => {
          const { status, body } = await post(server, init?.body);
          return new Response(body, { status });
        },
      });
      expect(client).toMatchObject({ client_name: 'SDK', client_secret_expires_at: 0 });
    },
  );
});
