import { describe, expect, test } from '@jest/globals';

import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  aRoute,
  ISSUER,
  LOOPBACK_CALLBACK,
  startAuthorizationServer,
} from '../support/authorization-server.ts';
import {
  callResource,
  fieldsOf,
  logIn,
  obtainCode,
  redeem,
  refresh,
  register,
  revoke,
  REVOKE_URL,
  tokensOf,
} from '../support/client-flow.ts';

const OTHER_ISSUER = 'https://other.example.com';
const MINUTE = 60_000;
const DOCUMENT_URL = 'https://app.clients.example/client.json';

describe('Revocation (RFC 7009)', () => {
  verifies(
    'as.revocation-of-grant',
    'revocation of a refresh token ends its grant and every token of it at once',
    async () => {
      await using server = await startAuthorizationServer();
      const { accessToken, refreshToken, client } = await logIn(server);
      const next = tokensOf(await refresh(server, refreshToken, client));
      for (const token of [accessToken, next.accessToken]) {
        expect(await callResource(server, token)).toMatchObject({ status: 200 });
      }
      expect(await revoke(server, next.refreshToken, client)).toMatchObject({ status: 200 });
      for (const token of [accessToken, next.accessToken]) {
        expect(await callResource(server, token)).toMatchObject({ status: 401 });
      }
      for (const token of [refreshToken, next.refreshToken]) {
        const reply = await refresh(server, token, client);
        expect(fieldsOf(reply)).toMatchObject({ error: 'invalid_grant' });
      }
    },
  );

  verifies(
    'as.revocation-of-grant',
    'revocation of a rotated refresh token ends its grant',
    async () => {
      await using server = await startAuthorizationServer();
      const { refreshToken, client } = await logIn(server);
      const next = tokensOf(await refresh(server, refreshToken, client));
      expect(await revoke(server, refreshToken, client)).toMatchObject({ status: 200 });
      expect(await callResource(server, next.accessToken)).toMatchObject({ status: 401 });
    },
  );

  verifies(
    'as.revocation',
    'revocation of an access token ends that token at once, and no other',
    async () => {
      await using server = await startAuthorizationServer();
      const { accessToken, refreshToken, client } = await logIn(server);
      expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
      expect(await revoke(server, accessToken, client)).toMatchObject({ status: 200 });
      expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
      const next = tokensOf(await refresh(server, refreshToken, client));
      expect(await callResource(server, next.accessToken)).toMatchObject({ status: 200 });
    },
  );

  for (const hint of ['access_token', 'refresh_token', 'something_else']) {
    verifies('as.revocation', `revocation ignores the token type hint ${hint}`, async () => {
      await using server = await startAuthorizationServer();
      const { accessToken, refreshToken, client } = await logIn(server);
      const changes = { token_type_hint: hint };
      expect(await revoke(server, accessToken, client, changes)).toMatchObject({ status: 200 });
      expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
      expect(await revoke(server, refreshToken, client, changes)).toMatchObject({ status: 200 });
      expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 400 });
    });
  }

  verifies('as.revocation', 'revocation of a revoked token succeeds', async () => {
    await using server = await startAuthorizationServer();
    const { accessToken, refreshToken, client } = await logIn(server);
    for (const token of [accessToken, accessToken, refreshToken, refreshToken]) {
      expect(await revoke(server, token, client)).toMatchObject({ status: 200 });
    }
  });

  for (const token of [
    'garbage',
    'gte_',
    'gtr_',
    `gte_${'x'.repeat(200)}`,
    `gtr_${'x'.repeat(43)}`,
  ]) {
    verifies(
      'as.revocation',
      `revocation of the unknown token ${JSON.stringify(token)} succeeds`,
      async () => {
        await using server = await startAuthorizationServer();
        const reply = await revoke(server, token, await register(server));
        expect(reply.status).toBe(200);
        expect(reply.headers['cache-control']).toBe('no-store');
      },
    );
  }

  verifies('as.revocation', 'revocation of an expired access token succeeds', async () => {
    await using server = await startAuthorizationServer();
    const { accessToken, client } = await logIn(server);
    server.clock.now += 16 * 60_000;
    expect(await revoke(server, accessToken, client)).toMatchObject({ status: 200 });
  });

  for (const [when, minutes] of [
    ['is past its expiry', 16],
    ['is just before its expiry', 14],
  ] as const) {
    verifies(
      'as.revocation',
      `a revoked access token is refused by a proxy whose clock ${when}`,
      async () => {
        let time = Date.now();
        await using server = await startAuthorizationServer({
          stores: createMemoryStores(() => time),
        });
        const { accessToken, client } = await logIn(server);
        server.clock.now += minutes * MINUTE;
        expect(await revoke(server, accessToken, client)).toMatchObject({ status: 200 });
        // Another proxy, whose clock is right.
        server.clock.now -= minutes * MINUTE;
        for (const passed of [0, 2 * MINUTE, 12 * MINUTE]) {
          time += passed;
          server.clock.now += passed;
          expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
        }
      },
    );
  }

  verifies(
    'as.revocation',
    'a revoked access token is refused by a proxy whose clock is late',
    async () => {
      let time = Date.now();
      await using server = await startAuthorizationServer({
        stores: createMemoryStores(() => time),
      });
      const { accessToken, client } = await logIn(server);
      expect(await revoke(server, accessToken, client)).toMatchObject({ status: 200 });
      // The store's clock is right. The proxy's is ten minutes late, so the token has not expired for it.
      time += 24 * MINUTE;
      server.clock.now += 14 * MINUTE;
      expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
    },
  );

  test('revocation of an access token is published to the other proxies once', async () => {
    await using server = await startAuthorizationServer();
    const { accessToken, client } = await logIn(server);
    const heard: string[] = [];
    server.stores.revocations.subscribe(({ kind }) => void heard.push(kind));
    for (let index = 0; index < 3; index += 1) {
      expect(await revoke(server, accessToken, client)).toMatchObject({ status: 200 });
    }
    expect(heard).toEqual(['token']);
  });

  verifies(
    'as.revocation',
    'revocation of another client’s tokens is refused, and they stay valid',
    async () => {
      await using server = await startAuthorizationServer();
      const { accessToken, refreshToken, client } = await logIn(server);
      const thief = await register(server);
      for (const token of [accessToken, refreshToken]) {
        const reply = await revoke(server, token, thief);
        expect(reply.status).toBe(400);
        expect(fieldsOf(reply)).toMatchObject({ error: 'unauthorized_client' });
      }
      expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
      expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
    },
  );

  verifies(
    'as.bound-to-issuer',
    'revocation at another issuer changes nothing, because the tokens are unknown there',
    async () => {
      const document = {
        ...{ client_id: DOCUMENT_URL, client_name: 'C' },
        redirect_uris: [LOOPBACK_CALLBACK],
      };
      await using server = await startAuthorizationServer({
        routes: [aRoute(), aRoute({ host: 'other.example.com' })],
        documents: { [DOCUMENT_URL]: document },
      });
      const client = { id: DOCUMENT_URL };
      const code = await obtainCode(server, client);
      const { accessToken, refreshToken } = tokensOf(await redeem(server, code, client));
      for (const token of [accessToken, refreshToken]) {
        const form = { client_id: client.id, token };
        const url = REVOKE_URL.replace(ISSUER, OTHER_ISSUER);
        expect(await server.send(url, { form })).toMatchObject({ status: 200 });
      }
      expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
      expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
    },
  );

  verifies(
    ['as.revocation', 'as.client-authentication'],
    'revocation requires the authentication of a confidential client',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server, { token_endpoint_auth_method: 'client_secret_post' });
      const reply = await redeem(server, await obtainCode(server, client), client);
      const { accessToken } = tokensOf(reply);
      for (const secret of [undefined, 'wrong']) {
        const refused = await revoke(server, accessToken, client, { client_secret: secret });
        expect(refused.status).toBe(401);
        expect(fieldsOf(refused)).toMatchObject({ error: 'invalid_client' });
      }
      expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
      expect(await revoke(server, accessToken, client)).toMatchObject({ status: 200 });
      expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
    },
  );

  test('revocation requires a token', async () => {
    await using server = await startAuthorizationServer();
    const reply = await revoke(server, '', await register(server));
    expect(reply.status).toBe(400);
    expect(fieldsOf(reply)).toMatchObject({ error: 'invalid_request' });
  });

  verifies(
    ['as.revocation', 'as.client-authentication'],
    'revocation requires a client',
    async () => {
      await using server = await startAuthorizationServer();
      const { accessToken } = await logIn(server);
      const reply = await server.send(REVOKE_URL, { form: { token: accessToken } });
      expect(reply.status).toBe(401);
      expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
    },
  );

  verifies('as.parameters-in-body', 'revocation ignores the query', async () => {
    await using server = await startAuthorizationServer();
    const { accessToken, client } = await logIn(server);
    const url = `${REVOKE_URL}?token=${accessToken}`;
    const reply = await server.send(url, { form: { client_id: client.id } });
    expect(reply.status).toBe(400);
    expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
  });

  verifies('as.parameters-in-body', 'revocation by GET is refused', async () => {
    await using server = await startAuthorizationServer();
    expect(await server.send(REVOKE_URL)).toMatchObject({ status: 405 });
  });
});
