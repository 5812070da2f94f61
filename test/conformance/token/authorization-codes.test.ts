import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import {
  ISSUER,
  LOOPBACK_CALLBACK,
  startAuthorizationServer,
  VERIFIER,
  WEB_CALLBACK,
} from '../../support/authorization-server.ts';
import {
  callResource,
  fieldsOf,
  obtainCode,
  redeem,
  register,
  TOKEN_URL,
  tokensOf,
} from '../../support/client-flow.ts';
import { type Changes, expectError, TWO_HOSTS, OTHER_ISSUER } from '../../support/token-cases.ts';

describe('An authorization code', () => {
  verifies(
    ['as.code-grant', 'as.no-store', 'tokens.external-limited'],
    'the token endpoint redeems a code for an external token and a refresh token',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const reply = await redeem(server, await obtainCode(server, client), client);
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({
        'content-type': 'application/json',
        'cache-control': 'no-store',
        pragma: 'no-cache',
        'access-control-allow-origin': '*',
      });
      expect(fieldsOf(reply)).toEqual({
        access_token: expect.stringMatching(/^gte_[\w-]+$/),
        token_type: 'Bearer',
        expires_in: 900,
        refresh_token: expect.stringMatching(/^gtr_[\w-]+$/),
      });
      const { accessToken } = tokensOf(reply);
      expect(fieldsOf(await callResource(server, accessToken))).toEqual({ user: 'alice' });
    },
  );

  test('the token endpoint redeems a code with the requested scope', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const code = await obtainCode(server, client, { scope: 'write read write' });
    expect(fieldsOf(await redeem(server, code, client))).toMatchObject({ scope: 'write read' });
  });

  async function expectUnredeemed(changes: Changes): Promise<void> {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const code = await obtainCode(server, client);
    expectError(await redeem(server, code, client, changes), 400, 'invalid_grant');
    expect(await redeem(server, code, client)).toMatchObject({ status: 200 });
  }

  const VERIFIERS: readonly (readonly [string, Changes])[] = [
    ['another verifier', { code_verifier: `${VERIFIER}x` }],
    ['no verifier', { code_verifier: undefined }],
    ['an empty verifier', { code_verifier: '' }],
    ['a verifier that is too short', { code_verifier: 'x'.repeat(42) }],
    ['a verifier that is too long', { code_verifier: 'x'.repeat(129) }],
  ];

  for (const [what, changes] of VERIFIERS) {
    verifies(
      ['as.code-bound', 'as.pkce-required', 'as.pkce-verifier'],
      `the token endpoint refuses a code with ${what}, and accepts it afterwards`,
      () => expectUnredeemed(changes),
    );
  }

  const MISMATCHES: readonly (readonly [string, Changes])[] = [
    ['another redirect URI', { redirect_uri: WEB_CALLBACK }],
    ['another loopback port', { redirect_uri: 'http://127.0.0.1:3001/callback' }],
    ['no redirect URI although the authorization request had one', { redirect_uri: undefined }],
    ['an unknown code', { code: 'x'.repeat(43) }],
  ];

  for (const [what, changes] of MISMATCHES) {
    verifies(
      'as.code-bound',
      `the token endpoint refuses ${what}, and accepts the request without it afterwards`,
      () => expectUnredeemed(changes),
    );
  }

  verifies('as.secrets-unreadable', 'the store does not contain the code', async () => {
    await using server = await startAuthorizationServer();
    const kept: string[] = [];
    const { authorizationCodes } = server.stores;
    const save = authorizationCodes.save.bind(authorizationCodes);
    authorizationCodes.save = (...record) => {
      kept.push(JSON.stringify(record));
      return save(...record);
    };
    const code = await obtainCode(server, await register(server));
    expect(kept).toHaveLength(1);
    expect(kept.join()).not.toContain(code);
  });

  test('the token endpoint needs no redirect URI if the authorization request had none', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const code = await obtainCode(server, client, { redirect_uri: undefined });
    const reply = await redeem(server, code, client, { redirect_uri: undefined });
    expect(reply.status).toBe(200);
  });

  verifies(
    ['as.code-bound', 'as.bound-to-issuer'],
    'the token endpoint refuses the code of another client or another issuer',
    async () => {
      await using server = await startAuthorizationServer({ routes: TWO_HOSTS });
      const client = await register(server);
      const code = await obtainCode(server, client);
      expectError(await redeem(server, code, await register(server)), 400, 'invalid_grant');
      const url = TOKEN_URL.replace(ISSUER, OTHER_ISSUER);
      const form = { client_id: client.id, grant_type: 'authorization_code', code };
      expectError(await server.send(url, { form }), 401, 'invalid_client');
      expect(await redeem(server, code, client)).toMatchObject({ status: 200 });
    },
  );

  verifies(
    ['as.code-bound', 'as.bound-to-issuer'],
    'the token endpoint refuses the code of a client with a metadata document at another issuer',
    async () => {
      const clientId = 'https://app.clients.example/client.json';
      const document = {
        client_id: clientId,
        client_name: 'C',
        redirect_uris: [LOOPBACK_CALLBACK],
      };
      await using server = await startAuthorizationServer({
        routes: TWO_HOSTS,
        documents: { [clientId]: document },
      });
      const code = await obtainCode(server, { id: clientId });
      const form = {
        ...{ client_id: clientId, grant_type: 'authorization_code', code },
        ...{ redirect_uri: LOOPBACK_CALLBACK, code_verifier: VERIFIER },
      };
      const url = TOKEN_URL.replace(ISSUER, OTHER_ISSUER);
      expectError(await server.send(url, { form }), 400, 'invalid_grant');
    },
  );
});
