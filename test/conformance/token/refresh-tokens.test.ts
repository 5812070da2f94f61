import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../proxy/crypto/sealer.ts';
import { RefreshTokens } from '../../../proxy/authorization-server/grants/refresh-tokens.ts';
import { verifies } from '../../requirements/verifies.ts';
import {
  ISSUER,
  LOOPBACK_CALLBACK,
  startAuthorizationServer,
} from '../../support/authorization-server.ts';
import {
  callResource,
  fieldsOf,
  logIn,
  obtainCode,
  redeem,
  refresh,
  register,
  TOKEN_URL,
  tokensOf,
  type Tokens,
} from '../../support/client-flow.ts';
import { expectError, TWO_HOSTS, OTHER_ISSUER, MINUTE, STRICT } from '../../support/token-cases.ts';

const HOUR = 60 * MINUTE;

describe('A refresh token', () => {
  verifies(
    ['tokens.refresh-rotated', 'endpoints.refresh'],
    'a refresh token is rotated on every use, and every access token stays valid',
    async () => {
      await using server = await startAuthorizationServer();
      const first = await logIn(server);
      const second = tokensOf(await refresh(server, first.refreshToken, first.client));
      const third = tokensOf(await refresh(server, second.refreshToken, first.client));
      const refreshTokens = [first, second, third].map(({ refreshToken }) => refreshToken);
      expect(new Set(refreshTokens).size).toBe(3);
      for (const { accessToken } of [first, second, third]) {
        expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
      }
    },
  );

  verifies(
    ['tokens.refresh-rotated', 'endpoints.refresh'],
    'a refresh token of a confidential client is rotated',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server, { token_endpoint_auth_method: 'client_secret_post' });
      const reply = await redeem(server, await obtainCode(server, client), client);
      const { refreshToken } = tokensOf(reply);
      expect(tokensOf(await refresh(server, refreshToken, client)).refreshToken).not.toBe(
        refreshToken,
      );
    },
  );

  verifies(
    'as.scope-not-exceeded',
    'a refresh token keeps its scope if an access token was requested with less',
    async () => {
      await using server = await startAuthorizationServer();
      const { refreshToken, client } = await logIn(server, { scope: 'read write' });
      const narrow = await refresh(server, refreshToken, client, { scope: 'read' });
      expect(fieldsOf(narrow)).toMatchObject({ scope: 'read' });
      const again = await refresh(server, tokensOf(narrow).refreshToken, client);
      expect(fieldsOf(again)).toMatchObject({ scope: 'read write' });
    },
  );

  verifies(
    'as.scope-not-exceeded',
    'a refresh token gives no more scope than was granted, and stays valid after the attempt',
    async () => {
      await using server = await startAuthorizationServer({
        settings: { tokens: STRICT },
      });
      const { refreshToken, client } = await logIn(server, { scope: 'read' });
      const more = { scope: 'read write' };
      expectError(await refresh(server, refreshToken, client, more), 400, 'invalid_scope');
      expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
    },
  );

  for (const token of ['', 'gtr_', 'garbage', `gtr_${'x'.repeat(43)}`]) {
    verifies(
      'as.token-errors',
      `the token endpoint refuses the refresh token ${JSON.stringify(token)}`,
      async () => {
        await using server = await startAuthorizationServer();
        const { client } = await logIn(server);
        const code = token === '' ? 'invalid_request' : 'invalid_grant';
        expectError(await refresh(server, token, client), 400, code);
      },
    );
  }

  const OTHER_KEY = new RefreshTokens(new Sealer([{ secret: Buffer.alloc(32, 1) }]));
  const NOT_MADE_HERE: readonly (readonly [string, (made: Tokens) => string])[] = [
    ['made up', () => `gtr_${'x'.repeat(200)}`],
    ['sealed with a key that is not known', () => OTHER_KEY.firstOf('grant').token],
    ['changed', ({ refreshToken }) => `${refreshToken.slice(0, -1)}_`],
    ['an access token in disguise', ({ accessToken }) => `gtr_${accessToken.slice(4)}`],
    ['very long', ({ refreshToken }) => refreshToken.padEnd(10_000, 'x')],
  ];

  for (const [what, tokenFrom] of NOT_MADE_HERE) {
    verifies(
      'as.token-errors',
      `the token endpoint refuses a refresh token that is ${what} without asking a store`,
      async () => {
        await using server = await startAuthorizationServer();
        const tokens = await logIn(server);
        const { grants, refreshTokens } = server.stores;
        const fail = (): Promise<never> => Promise.reject(new Error('a store was asked'));
        grants.get = fail;
        refreshTokens.stateOf = fail;
        const reply = await refresh(server, tokenFrom(tokens), tokens.client);
        expectError(reply, 400, 'invalid_grant');
      },
    );
  }

  verifies(
    'as.refresh-token-bound',
    'the token endpoint refuses the refresh token of another client, and the token stays valid',
    async () => {
      await using server = await startAuthorizationServer();
      const { refreshToken, client } = await logIn(server);
      expectError(
        await refresh(server, refreshToken, await register(server)),
        400,
        'invalid_grant',
      );
      expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
    },
  );

  verifies(
    ['as.refresh-token-bound', 'as.client-authentication'],
    'the token endpoint refuses a confidential client without its secret, and the token stays valid',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server, { token_endpoint_auth_method: 'client_secret_post' });
      const reply = await redeem(server, await obtainCode(server, client), client);
      const { refreshToken } = tokensOf(reply);
      for (const secret of [undefined, 'wrong']) {
        const refused = await refresh(server, refreshToken, client, { client_secret: secret });
        expectError(refused, 401, 'invalid_client');
      }
      expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
    },
  );

  verifies('as.no-store', 'the response to a refresh must not be cached', async () => {
    await using server = await startAuthorizationServer();
    const { refreshToken, client } = await logIn(server);
    const { status, headers } = await refresh(server, refreshToken, client);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
  });

  verifies('as.bound-to-issuer', 'a refresh token is unknown at another issuer', async () => {
    const clientId = 'https://app.clients.example/client.json';
    const document = { client_id: clientId, client_name: 'C', redirect_uris: [LOOPBACK_CALLBACK] };
    await using server = await startAuthorizationServer({
      routes: TWO_HOSTS,
      documents: { [clientId]: document },
    });
    const client = { id: clientId };
    const reply = await redeem(server, await obtainCode(server, client), client);
    const form = {
      ...{ client_id: clientId, grant_type: 'refresh_token' },
      refresh_token: tokensOf(reply).refreshToken,
    };
    const url = TOKEN_URL.replace(ISSUER, OTHER_ISSUER);
    expectError(await server.send(url, { form }), 400, 'invalid_grant');
  });

  test('a refresh token is refused as an access token, and an access token as a refresh token', async () => {
    await using server = await startAuthorizationServer();
    const { accessToken, refreshToken, client } = await logIn(server);
    expect(await callResource(server, refreshToken)).toMatchObject({ status: 401 });
    expectError(await refresh(server, accessToken, client), 400, 'invalid_grant');
  });

  verifies(
    'as.grant-active',
    'the token endpoint refuses a refresh token whose session cannot be recreated',
    async () => {
      await using server = await startAuthorizationServer();
      const { refreshToken, client } = await logIn(server);
      server.clock.now += 14 * HOUR;
      expectError(await refresh(server, refreshToken, client), 400, 'invalid_grant');
    },
  );

  verifies(
    'as.refresh-token-expires',
    'a refresh token stays valid for as long as it is used',
    async () => {
      const tokens = { ...STRICT, refreshTokenSeconds: 2 * 3600 };
      await using server = await startAuthorizationServer({ settings: { tokens } });
      const first = await logIn(server);
      server.clock.now += 1.5 * HOUR;
      const second = tokensOf(await refresh(server, first.refreshToken, first.client));
      server.clock.now += 1.5 * HOUR;
      const third = await refresh(server, second.refreshToken, first.client);
      expect(third.status).toBe(200);
      expect(await callResource(server, tokensOf(third).accessToken)).toMatchObject({
        status: 200,
      });
      server.clock.now += 2 * HOUR;
      const reply = await refresh(server, tokensOf(third).refreshToken, first.client);
      expectError(reply, 400, 'invalid_grant');
    },
  );
});

describe('A store that fails', () => {
  test('a failing store does not use up a refresh token', async () => {
    await using server = await startAuthorizationServer({ settings: { tokens: STRICT } });
    const { refreshToken, client } = await logIn(server);
    const { refreshTokens } = server.stores;
    const rotate = refreshTokens.rotate.bind(refreshTokens);
    refreshTokens.rotate = () => Promise.reject(new Error('the store is down'));
    const failed = await refresh(server, refreshToken, client);
    expect(failed.status).toBe(500);
    expect(fieldsOf(failed)).toMatchObject({ error: 'server_error' });
    refreshTokens.rotate = rotate;
    expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
  });
});
