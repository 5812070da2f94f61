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
    'of a refresh token ends its grant, and every token of it at once',
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
    'of a refresh token that was rotated ends its grant too',
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
    'of an access token ends that token at once, and no other',
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
    verifies('as.revocation', `does not depend on the hint, here ${hint}`, async () => {
      await using server = await startAuthorizationServer();
      const { accessToken, refreshToken, client } = await logIn(server);
      const changes = { token_type_hint: hint };
      expect(await revoke(server, accessToken, client, changes)).toMatchObject({ status: 200 });
      expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
      expect(await revoke(server, refreshToken, client, changes)).toMatchObject({ status: 200 });
      expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 400 });
    });
  }

  verifies('as.revocation', 'works twice', async () => {
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
      `of the unknown token ${JSON.stringify(token)} succeeds`,
      async () => {
        await using server = await startAuthorizationServer();
        const reply = await revoke(server, token, await register(server));
        expect(reply.status).toBe(200);
        expect(reply.headers['cache-control']).toBe('no-store');
      },
    );
  }

  verifies('as.revocation', 'of an access token that has expired succeeds', async () => {
    await using server = await startAuthorizationServer();
    const { accessToken, client } = await logIn(server);
    server.clock.now += 16 * 60_000;
    expect(await revoke(server, accessToken, client)).toMatchObject({ status: 200 });
  });

  for (const [when, minutes] of [
    ['thinks that it has expired', 16],
    ['thinks that it is about to expire', 14],
  ] as const) {
    verifies('as.revocation', `of an access token holds where the proxy ${when}`, async () => {
      let time = Date.now();
      await using server = await startAuthorizationServer({
        stores: createMemoryStores(() => time),
      });
      const { accessToken, client } = await logIn(server);
      server.clock.now += minutes * MINUTE;
      expect(await revoke(server, accessToken, client)).toMatchObject({ status: 200 });
      // The clock of another proxy, which is right.
      server.clock.now -= minutes * MINUTE;
      for (const passed of [0, 2 * MINUTE, 12 * MINUTE]) {
        time += passed;
        server.clock.now += passed;
        expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
      }
    });
  }

  verifies('as.revocation', 'of an access token holds at a proxy that is late', async () => {
    let time = Date.now();
    await using server = await startAuthorizationServer({ stores: createMemoryStores(() => time) });
    const { accessToken, client } = await logIn(server);
    expect(await revoke(server, accessToken, client)).toMatchObject({ status: 200 });
    // The store's clock; that of a proxy which is ten minutes behind has the token live on.
    time += 24 * MINUTE;
    server.clock.now += 14 * MINUTE;
    expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
  });

  test('of an access token is told to the other proxies once', async () => {
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
    'of another client’s tokens is refused, and they stay good',
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
    'at another issuer does nothing: the tokens are unknown there',
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
    'needs the authentication of a confidential client',
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

  test('needs a token', async () => {
    await using server = await startAuthorizationServer();
    const reply = await revoke(server, '', await register(server));
    expect(reply.status).toBe(400);
    expect(fieldsOf(reply)).toMatchObject({ error: 'invalid_request' });
  });

  verifies(['as.revocation', 'as.client-authentication'], 'needs a client', async () => {
    await using server = await startAuthorizationServer();
    const { accessToken } = await logIn(server);
    const reply = await server.send(REVOKE_URL, { form: { token: accessToken } });
    expect(reply.status).toBe(401);
    expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
  });

  verifies('as.parameters-in-body', 'takes nothing from the query', async () => {
    await using server = await startAuthorizationServer();
    const { accessToken, client } = await logIn(server);
    const url = `${REVOKE_URL}?token=${accessToken}`;
    const reply = await server.send(url, { form: { client_id: client.id } });
    expect(reply.status).toBe(400);
    expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
  });

  verifies('as.parameters-in-body', 'is not to be had by GET', async () => {
    await using server = await startAuthorizationServer();
    expect(await server.send(REVOKE_URL)).toMatchObject({ status: 405 });
  });
});
