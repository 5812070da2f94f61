import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../proxy/crypto/sealer.ts';
import { RefreshTokens } from '../../proxy/authorization-server/grants/refresh-tokens.ts';
import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import { failingStores } from '../support/failing-stores.ts';
import { verifies } from '../requirements/verifies.ts';
import {
  aRoute,
  ISSUER,
  LOOPBACK_CALLBACK,
  RESOURCE,
  startAuthorizationServer,
  VERIFIER,
  WEB_CALLBACK,
  type Reply,
  type TestServer,
} from '../support/authorization-server.ts';
import {
  authorizationUrl,
  callResource,
  decide,
  fieldsOf,
  logIn,
  obtainCode,
  redeem,
  refresh,
  register,
  TOKEN_URL,
  tokensOf,
  type Tokens,
} from '../support/client-flow.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const OTHER_ISSUER = 'https://other.example.com';
const TWO_HOSTS = [aRoute(), aRoute({ host: 'other.example.com' })];
const STRICT = {
  externalTokenSeconds: 900,
  refreshTokenSeconds: 30 * 24 * 3600,
  refreshTokenGraceSeconds: 0,
};

/** What a request has in place of a good one’s parameters; `undefined` leaves one out. */
type Changes = Readonly<Record<string, string | undefined>>;

describe('An authorization code', () => {
  verifies(
    ['as.code-grant', 'as.no-store', 'tokens.external-limited'],
    'is redeemed for an external token and a refresh token',
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

  test('is redeemed with the scope that was asked for', async () => {
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
      `is not redeemed with ${what}, and not used up`,
      () => expectUnredeemed(changes),
    );
  }

  const MISMATCHES: readonly (readonly [string, Changes])[] = [
    ['another redirect URI', { redirect_uri: WEB_CALLBACK }],
    ['another loopback port', { redirect_uri: 'http://127.0.0.1:3001/callback' }],
    ['no redirect URI after one was named', { redirect_uri: undefined }],
    ['a code that is unknown', { code: 'x'.repeat(43) }],
  ];

  for (const [what, changes] of MISMATCHES) {
    verifies('as.code-bound', `is not redeemed with ${what}, and not used up`, () =>
      expectUnredeemed(changes),
    );
  }

  verifies('as.secrets-unreadable', 'is not in what the store keeps', async () => {
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

  test('is redeemed without redirect URI when none was named', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const code = await obtainCode(server, client, { redirect_uri: undefined });
    const reply = await redeem(server, code, client, { redirect_uri: undefined });
    expect(reply.status).toBe(200);
  });

  verifies(
    ['as.code-bound', 'as.bound-to-issuer'],
    'is another client’s or another issuer’s to nobody',
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
    'of a client with a metadata document is no good at another issuer',
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

  verifies('as.code-short-lived', 'is gone after a minute', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const code = await obtainCode(server, client);
    server.clock.now += MINUTE;
    expectError(await redeem(server, code, client), 400, 'invalid_grant');
  });

  verifies('as.grant-active', 'ends with the session it was made from', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const cookie = await server.signIn(ISSUER, { id: 'the-session' });
    const redirect = await decide(server, authorizationUrl(client.id), cookie);
    await server.stores.sessions.revoke('the-session');
    const code = redirect.searchParams.get('code') ?? '';
    expectError(await redeem(server, code, client), 400, 'invalid_grant');
  });

  verifies('as.grant-active', 'is no good once that session has expired', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const cookie = await server.signIn(ISSUER, { expiresAt: server.clock.now + MINUTE / 2 });
    const redirect = await decide(server, authorizationUrl(client.id), cookie);
    server.clock.now += MINUTE / 2;
    const code = redirect.searchParams.get('code') ?? '';
    expectError(await redeem(server, code, client), 400, 'invalid_grant');
  });

  verifies('as.code-single-use', 'used twice ends what its first use got', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const code = await obtainCode(server, client);
    const { accessToken, refreshToken } = tokensOf(await redeem(server, code, client));
    expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
    expectError(await redeem(server, code, client), 400, 'invalid_grant');
    expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
    expectError(await refresh(server, refreshToken, client), 400, 'invalid_grant');
    expect(server.logged.map(({ message }) => message)).toContain('authorization code reused');
  });

  test('used again by who lacks the verifier ends nothing', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const code = await obtainCode(server, client);
    const { accessToken } = tokensOf(await redeem(server, code, client));
    const changes = { code_verifier: 'x'.repeat(43) };
    expectError(await redeem(server, code, client, changes), 400, 'invalid_grant');
    expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
  });

  verifies(
    'as.code-single-use',
    'redeemed fifty times at once is redeemed once, and what that got is revoked',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const code = await obtainCode(server, client);
      const replies = await Promise.all(
        Array.from({ length: 50 }, () => redeem(server, code, client)),
      );
      const [winner, ...others] = replies.filter(({ status }) => status === 200);
      expect(others).toEqual([]);
      expect(replies.filter(({ status }) => status === 400)).toHaveLength(49);
      const { accessToken, refreshToken } = tokensOf(winner ?? failedReply());
      expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
      expectError(await refresh(server, refreshToken, client), 400, 'invalid_grant');
    },
  );

  verifies('as.code-short-lived', 'that expires while it is redeemed leaves nothing', async () => {
    await using server = await startAuthorizationServer();
    const { authorizationCodes, grants } = server.stores;
    const made: string[] = [];
    const create = grants.create.bind(grants);
    grants.create = (grant, ttlSeconds) => {
      made.push(grant.id);
      return create(grant, ttlSeconds);
    };
    const consume = authorizationCodes.consume.bind(authorizationCodes);
    authorizationCodes.consume = (hash, memorySeconds) => {
      server.clock.now += MINUTE;
      return consume(hash, memorySeconds);
    };
    const client = await register(server);
    const code = await obtainCode(server, client);
    expectError(await redeem(server, code, client), 400, 'invalid_grant');
    expect(made).toHaveLength(1);
    expect(await grants.get(made.join())).toBeNull();
  });

  /** Redeems codes: of the first one the first call of a store fails, and so on. */
  async function* failuresAt(
    isCarriedOut: boolean,
  ): AsyncGenerator<{ readonly server: TestServer; readonly retried: Reply }> {
    for (let afterCalls = 0; ; afterCalls += 1) {
      const failing = failingStores(createMemoryStores());
      const { stores } = failing;
      await using server = await startAuthorizationServer({ stores });
      const client = await register(server);
      const code = await obtainCode(server, client);
      failing.failOnce({ afterCalls, isCarriedOut });
      const failed = await redeem(server, code, client);
      failing.failOnce(null);
      if (failed.status === 200) return;
      expectError(failed, 503, 'temporarily_unavailable');
      const retried = await redeem(server, code, client);
      if (retried.status === 200) {
        const { accessToken, refreshToken } = tokensOf(retried);
        expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
        expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
      }
      yield { server, retried };
    }
  }

  verifies(
    'as.code-grant',
    'is redeemed by the next attempt, whichever call of a store failed in the first',
    async () => {
      const statuses: number[] = [];
      for await (const { server, retried } of failuresAt(false)) {
        statuses.push(retried.status);
        expect(server.logged.map(({ message }) => message)).not.toContain(
          'authorization code reused',
        );
      }
      expect(statuses.length).toBeGreaterThan(5);
      expect(statuses).toEqual(statuses.map(() => 200));
    },
  );

  verifies(
    'as.code-single-use',
    'is used up only by the last call of a store, should its answer be lost',
    async () => {
      const statuses: number[] = [];
      for await (const { retried } of failuresAt(true)) statuses.push(retried.status);
      const last = statuses.length - 1;
      expect(statuses).toEqual(statuses.map((_, index) => (index < last ? 200 : 400)));
    },
  );
});

describe('The resource of a token request', () => {
  for (const resource of [RESOURCE, `${RESOURCE}/`, `${RESOURCE}/below`]) {
    verifies('as.resource', `may be ${resource}`, async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const code = await obtainCode(server, client);
      expect(await redeem(server, code, client, { resource })).toMatchObject({ status: 200 });
    });
  }

  for (const resource of [
    `${ISSUER}/other`,
    `${ISSUER}/unknown`,
    'https://elsewhere.example/mcp',
    'mcp',
  ]) {
    verifies('as.resource', `may not be ${resource}, and that uses nothing up`, async () => {
      const routes = [aRoute(), aRoute({ path: { kind: 'prefix', value: '/other' } })];
      await using server = await startAuthorizationServer({ routes });
      const client = await register(server);
      const code = await obtainCode(server, client);
      expectError(await redeem(server, code, client, { resource }), 400, 'invalid_target');
      const reply = await redeem(server, code, client);
      const { refreshToken } = tokensOf(reply);
      expectError(await refresh(server, refreshToken, client, { resource }), 400, 'invalid_target');
      expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
    });
  }
});

describe('An external token', () => {
  verifies(
    ['tokens.external-limited', 'as.resource', 'rs.audience'],
    'is no good on another route or another host',
    async () => {
      const routes = [...TWO_HOSTS, aRoute({ path: { kind: 'prefix', value: '/other' } })];
      await using server = await startAuthorizationServer({ routes });
      const { accessToken } = await logIn(server);
      for (const url of [`${ISSUER}/other`, `${OTHER_ISSUER}/mcp`]) {
        expect(await callResource(server, accessToken, url)).toMatchObject({ status: 401 });
      }
    },
  );

  verifies(
    ['tokens.external-limited', 'rs.audience'],
    'of one name of a wildcard host is no good on another',
    async () => {
      await using server = await startAuthorizationServer({
        routes: [aRoute({ host: '*.example.com' })],
      });
      const { accessToken } = await logIn(server);
      expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
      const elsewhere = await callResource(server, accessToken, `${OTHER_ISSUER}/mcp`);
      expect(elsewhere.status).toBe(401);
    },
  );

  verifies(
    ['tokens.external-limited', 'tokens.access-short-lived'],
    'ends when it says it does',
    async () => {
      await using server = await startAuthorizationServer();
      const { accessToken } = await logIn(server);
      server.clock.now += 15 * MINUTE - 1;
      expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
      server.clock.now += 1;
      expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
    },
  );

  const LIFETIMES: readonly (readonly [number, number])[] = [
    [7.5 * MINUTE, 450],
    [MINUTE + 999, 60],
    [999, 0],
  ];

  for (const [lifetimeMs, expiresIn] of LIFETIMES) {
    verifies(
      ['tokens.external-limited', 'as.grant-active'],
      `does not outlive its session, which ends in ${String(lifetimeMs)} ms`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server);
        const cookie = await server.signIn(ISSUER, { expiresAt: server.clock.now + lifetimeMs });
        const redirect = await decide(server, authorizationUrl(client.id), cookie);
        const reply = await redeem(server, redirect.searchParams.get('code') ?? '', client);
        expect(fieldsOf(reply)).toMatchObject({ expires_in: expiresIn });
      },
    );
  }

  verifies('as.grant-active', 'ends at once when its session is revoked', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const cookie = await server.signIn(ISSUER, { id: 'the-session' });
    const redirect = await decide(server, authorizationUrl(client.id), cookie);
    const reply = await redeem(server, redirect.searchParams.get('code') ?? '', client);
    const { accessToken } = tokensOf(reply);
    expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
    await server.stores.sessions.revoke('the-session');
    await server.stores.revocations.publish({ kind: 'session', sessionId: 'the-session' });
    expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
  });
});

describe('A refresh token', () => {
  verifies(
    ['tokens.refresh-rotated', 'endpoints.refresh'],
    'is rotated on every use, and every access token works',
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
    'is rotated for confidential clients too',
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

  verifies('as.scope-not-exceeded', 'keeps the scope when the access token gets less', async () => {
    await using server = await startAuthorizationServer();
    const { refreshToken, client } = await logIn(server, { scope: 'read write' });
    const narrow = await refresh(server, refreshToken, client, { scope: 'read' });
    expect(fieldsOf(narrow)).toMatchObject({ scope: 'read' });
    const again = await refresh(server, tokensOf(narrow).refreshToken, client);
    expect(fieldsOf(again)).toMatchObject({ scope: 'read write' });
  });

  verifies(
    'as.scope-not-exceeded',
    'does not give more than was granted, and is not used up by the attempt',
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
    verifies('as.token-errors', `that is ${JSON.stringify(token)} is refused`, async () => {
      await using server = await startAuthorizationServer();
      const { client } = await logIn(server);
      const code = token === '' ? 'invalid_request' : 'invalid_grant';
      expectError(await refresh(server, token, client), 400, code);
    });
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
    verifies('as.token-errors', `that is ${what} is refused before a store is asked`, async () => {
      await using server = await startAuthorizationServer();
      const tokens = await logIn(server);
      const { grants, refreshTokens } = server.stores;
      const fail = (): Promise<never> => Promise.reject(new Error('a store was asked'));
      grants.get = fail;
      refreshTokens.stateOf = fail;
      const reply = await refresh(server, tokenFrom(tokens), tokens.client);
      expectError(reply, 400, 'invalid_grant');
    });
  }

  verifies('as.refresh-token-bound', 'is refused to another client, and stays good', async () => {
    await using server = await startAuthorizationServer();
    const { refreshToken, client } = await logIn(server);
    expectError(await refresh(server, refreshToken, await register(server)), 400, 'invalid_grant');
    expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
  });

  verifies(
    ['as.refresh-token-bound', 'as.client-authentication'],
    'of a confidential client is refused without its secret, and stays good',
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

  verifies('as.no-store', 'is answered with tokens that no cache may keep', async () => {
    await using server = await startAuthorizationServer();
    const { refreshToken, client } = await logIn(server);
    const { status, headers } = await refresh(server, refreshToken, client);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
  });

  verifies('as.bound-to-issuer', 'is unknown at another issuer', async () => {
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

  test('is no access token, and an access token no refresh token', async () => {
    await using server = await startAuthorizationServer();
    const { accessToken, refreshToken, client } = await logIn(server);
    expect(await callResource(server, refreshToken)).toMatchObject({ status: 401 });
    expectError(await refresh(server, accessToken, client), 400, 'invalid_grant');
  });

  verifies('as.grant-active', 'is refused when its session has expired for good', async () => {
    await using server = await startAuthorizationServer();
    const { refreshToken, client } = await logIn(server);
    server.clock.now += 14 * HOUR;
    expectError(await refresh(server, refreshToken, client), 400, 'invalid_grant');
  });

  verifies('as.refresh-token-expires', 'lives as long as it is used', async () => {
    const tokens = { ...STRICT, refreshTokenSeconds: 2 * 3600 };
    await using server = await startAuthorizationServer({ settings: { tokens } });
    const first = await logIn(server);
    server.clock.now += 1.5 * HOUR;
    const second = tokensOf(await refresh(server, first.refreshToken, first.client));
    server.clock.now += 1.5 * HOUR;
    const third = await refresh(server, second.refreshToken, first.client);
    expect(third.status).toBe(200);
    expect(await callResource(server, tokensOf(third).accessToken)).toMatchObject({ status: 200 });
    server.clock.now += 2 * HOUR;
    const reply = await refresh(server, tokensOf(third).refreshToken, first.client);
    expectError(reply, 400, 'invalid_grant');
  });
});

describe('A refresh token that was rotated', () => {
  verifies('as.refresh-grace', 'answers with the same successor within the grace', async () => {
    await using server = await startAuthorizationServer();
    const { refreshToken, client } = await logIn(server);
    const first = tokensOf(await refresh(server, refreshToken, client));
    server.clock.now += MINUTE - 1;
    const again = tokensOf(await refresh(server, refreshToken, client));
    expect(again.refreshToken).toBe(first.refreshToken);
    expect(again.accessToken).not.toBe(first.accessToken);
    expect(await callResource(server, again.accessToken)).toMatchObject({ status: 200 });
  });

  verifies(
    'as.refresh-grace',
    'fifty times at once gives one successor and no branch',
    async () => {
      await using server = await startAuthorizationServer();
      const { refreshToken, client } = await logIn(server);
      const replies = await Promise.all(
        Array.from({ length: 50 }, () => refresh(server, refreshToken, client)),
      );
      expect(replies.every(({ status }) => status === 200)).toBe(true);
      const successors = new Set(replies.map((reply) => tokensOf(reply).refreshToken));
      expect(successors.size).toBe(1);
      const [successor = ''] = successors;
      expect(await refresh(server, successor, client)).toMatchObject({ status: 200 });
    },
  );

  const REPLAYS: readonly (readonly [string, Replay])[] = [
    ['after the grace', { afterMs: MINUTE }],
    ['once its successor was used', { useSuccessor: true }],
    ['when there is no grace', { tokens: STRICT }],
  ];

  for (const [when, { afterMs = 0, useSuccessor = false, tokens }] of REPLAYS) {
    verifies(
      'as.replay-detection',
      `ends the whole family ${when}, and that is logged`,
      async () => {
        await using server = await startAuthorizationServer(
          tokens === undefined ? {} : { settings: { tokens } },
        );
        const stolen = await logIn(server);
        let latest = tokensOf(await refresh(server, stolen.refreshToken, stolen.client));
        if (useSuccessor) {
          latest = tokensOf(await refresh(server, latest.refreshToken, stolen.client));
        }
        server.clock.now += afterMs;
        expect(await callResource(server, latest.accessToken)).toMatchObject({ status: 200 });
        expectError(
          await refresh(server, stolen.refreshToken, stolen.client),
          400,
          'invalid_grant',
        );
        expectError(
          await refresh(server, latest.refreshToken, stolen.client),
          400,
          'invalid_grant',
        );
        for (const { accessToken } of [stolen, latest]) {
          expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
        }
        expect(server.logged).toContainEqual({
          message: 'refresh token replayed',
          fields: {
            reason: 'refresh-token-replayed',
            'grant-id': expect.any(String),
            'client-id': stolen.client.id,
          },
        });
      },
    );
  }

  // Should a thief rotate on until what the victim holds is forgotten.
  verifies('as.replay-detection', 'ends the family however often that was since', async () => {
    await using server = await startAuthorizationServer();
    const stolen = await logIn(server);
    let latest: Omit<Tokens, 'client'> = stolen;
    for (let index = 0; index < 40; index += 1) {
      latest = tokensOf(await refresh(server, latest.refreshToken, stolen.client));
    }
    expectError(await refresh(server, stolen.refreshToken, stolen.client), 400, 'invalid_grant');
    expect(await callResource(server, latest.accessToken)).toMatchObject({ status: 401 });
    expectError(await refresh(server, latest.refreshToken, stolen.client), 400, 'invalid_grant');
    expect(server.logged.map(({ message }) => message)).toContain('refresh token replayed');
  });

  verifies('as.refresh-token-bound', 'is bound to its client within the grace too', async () => {
    await using server = await startAuthorizationServer();
    const { refreshToken, client } = await logIn(server);
    await refresh(server, refreshToken, client);
    expectError(await refresh(server, refreshToken, await register(server)), 400, 'invalid_grant');
  });

  verifies('as.replay-detection', 'does not end the grants of other logins', async () => {
    await using server = await startAuthorizationServer({ settings: { tokens: STRICT } });
    const stolen = await logIn(server);
    const other = await logIn(server);
    await refresh(server, stolen.refreshToken, stolen.client);
    await refresh(server, stolen.refreshToken, stolen.client);
    expect(await refresh(server, other.refreshToken, other.client)).toMatchObject({ status: 200 });
  });

  verifies(
    'as.secrets-unreadable',
    'is never in what the store keeps, nor is its successor',
    async () => {
      await using server = await startAuthorizationServer();
      const kept: string[] = [];
      const { refreshTokens } = server.stores;
      const rotate = refreshTokens.rotate.bind(refreshTokens);
      refreshTokens.rotate = (reference, rotation) => {
        kept.push(JSON.stringify([reference, rotation]));
        return rotate(reference, rotation);
      };
      const { refreshToken, client } = await logIn(server);
      const successor = tokensOf(await refresh(server, refreshToken, client)).refreshToken;
      expect(kept).toHaveLength(1);
      expect(kept.join()).not.toContain(refreshToken.slice(4));
      expect(kept.join()).not.toContain(successor.slice(4));
    },
  );
});

describe('A failing store', () => {
  test('burns no refresh token', async () => {
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

describe('A token request', () => {
  async function expectRefused(changes: Changes, code: string): Promise<void> {
    await using server = await startAuthorizationServer();
    expectError(await redeem(server, 'x', await register(server), changes), 400, code);
  }

  const INCOMPLETE: readonly (readonly [string, Changes, string])[] = [
    ['has no grant type', { grant_type: undefined }, 'invalid_request'],
    ['has no code', { code: undefined }, 'invalid_request'],
  ];

  for (const [what, changes, code] of INCOMPLETE) {
    verifies('as.token-errors', `that ${what} is refused`, () => expectRefused(changes, code));
  }

  const OTHER_GRANTS: readonly (readonly [string, Changes, string])[] = [
    ['has the password grant', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['has client credentials', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['has a grant type of JavaScript', { grant_type: 'constructor' }, 'unsupported_grant_type'],
  ];

  for (const [what, changes, code] of OTHER_GRANTS) {
    verifies(['as.token-errors', 'as.grant-types'], `that ${what} is refused`, () =>
      expectRefused(changes, code),
    );
  }

  for (const name of ['code', 'client_id', 'code_verifier', 'grant_type', 'unheard_of']) {
    verifies('as.no-repeated-parameters', `with ${name} twice is refused`, async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const form = new URLSearchParams({ grant_type: 'authorization_code', client_id: client.id });
      form.append(name, 'a');
      form.append(name, 'a');
      expectError(await server.send(TOKEN_URL, { form }), 400, 'invalid_request');
    });
  }

  test.each([
    ['JSON', 'application/json'],
    ['multipart', 'multipart/form-data; boundary=x'],
    ['plain text', 'text/plain'],
  ])('in %s is refused', async (_what, contentType) => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(TOKEN_URL, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body: '{}',
    });
    expectError(reply, 400, 'invalid_request');
  });

  test('without content type is refused', async () => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(TOKEN_URL, { method: 'POST', body: 'grant_type=x' });
    expectError(reply, 400, 'invalid_request');
  });

  test('with a charset is understood', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const headers = { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' };
    const form = { grant_type: 'x', client_id: client.id };
    expectError(await server.send(TOKEN_URL, { headers, form }), 400, 'unsupported_grant_type');
  });

  test('that is compressed is refused', async () => {
    await using server = await startAuthorizationServer();
    const headers = { 'content-encoding': 'gzip' };
    const form = { grant_type: 'refresh_token' };
    expectError(await server.send(TOKEN_URL, { headers, form }), 400, 'invalid_request');
  });

  test('of more than 64 KiB is refused', async () => {
    await using server = await startAuthorizationServer();
    const form = { grant_type: 'refresh_token', refresh_token: 'x'.repeat(64 * 1024) };
    expectError(await server.send(TOKEN_URL, { form }), 413, 'invalid_request');
  });

  verifies('as.parameters-in-body', 'with parameters in the query is refused', async () => {
    await using server = await startAuthorizationServer();
    const { refreshToken, client } = await logIn(server);
    const url = `${TOKEN_URL}?client_id=${client.id}`;
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    expectError(await server.send(url, { form }), 400, 'invalid_request');
  });

  verifies('as.parameters-in-body', 'by GET is refused', async () => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(TOKEN_URL);
    expect(reply).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  verifies('as.client-authentication', 'of an unknown client is refused with 401', async () => {
    await using server = await startAuthorizationServer();
    expectError(await redeem(server, 'x', { id: 'unknown' }), 401, 'invalid_client');
  });

  verifies('as.cors', 'may come from a page of any origin, after a preflight', async () => {
    await using server = await startAuthorizationServer();
    const reply = await server.send(TOKEN_URL, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:6274', 'access-control-request-method': 'POST' },
    });
    expect(reply).toMatchObject({ status: 204, body: '' });
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
  });

  for (const method of ['client_secret_basic', 'client_secret_post']) {
    verifies(
      ['as.client-authentication', 'as.code-grant'],
      `of a client with ${method} needs its secret, and the code waits for it`,
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

verifies('as.secrets-unreadable', 'Nothing secret is in the log of all that', async () => {
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
});

interface Replay {
  readonly afterMs?: number;
  readonly useSuccessor?: boolean;
  readonly tokens?: typeof STRICT;
}

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

function expectError(reply: Reply, status: number, code: string): void {
  expect({ status: reply.status, error: fieldsOf(reply)['error'] }).toEqual({
    status,
    error: code,
  });
  expect(reply.headers['cache-control']).toBe('no-store');
}

function failedReply(): Reply {
  throw new Error('no request was answered with tokens');
}

describe('Client IDs of strangers', () => {
  // Requests that prove nothing make the gateway fetch one address after the other.
  for (const endpoint of ['token', 'revoke']) {
    test(`are fetched sixty times a minute for one network at the ${endpoint} endpoint`, async () => {
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
      // A client that is known need not be fetched, and is served.
      expect(await attempt(known)).toBe(knownStatus);
      server.clock.now += MINUTE;
      expect(await attempt('https://x60.clients.example/a')).toBe(401);
    });
  }
});
