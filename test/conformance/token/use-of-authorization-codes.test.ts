import { describe, expect, test } from '@jest/globals';

import { createMemoryStores } from '../../../proxy/store/memory/memory-stores.ts';
import { failingStores } from '../../support/failing-stores.ts';
import { verifies } from '../../requirements/verifies.ts';
import {
  ISSUER,
  startAuthorizationServer,
  type Reply,
  type TestServer,
} from '../../support/authorization-server.ts';
import {
  authorizationUrl,
  callResource,
  decide,
  obtainCode,
  redeem,
  refresh,
  register,
  tokensOf,
} from '../../support/client-flow.ts';
import { expectError, MINUTE } from '../../support/token-cases.ts';

describe('The use of an authorization code', () => {
  verifies('as.code-short-lived', 'the token endpoint refuses a code after a minute', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const code = await obtainCode(server, client);
    server.clock.now += MINUTE;
    expectError(await redeem(server, code, client), 400, 'invalid_grant');
  });

  verifies(
    'as.grant-active',
    'the token endpoint refuses a code after its session was revoked',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const cookie = await server.signIn(ISSUER, { id: 'the-session' });
      const redirect = await decide(server, authorizationUrl(client.id), cookie);
      await server.stores.sessions.revoke('the-session');
      const code = redirect.searchParams.get('code') ?? '';
      expectError(await redeem(server, code, client), 400, 'invalid_grant');
    },
  );

  verifies(
    'as.grant-active',
    'the token endpoint refuses a code after its session has expired',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const cookie = await server.signIn(ISSUER, { expiresAt: server.clock.now + MINUTE / 2 });
      const redirect = await decide(server, authorizationUrl(client.id), cookie);
      server.clock.now += MINUTE / 2;
      const code = redirect.searchParams.get('code') ?? '';
      expectError(await redeem(server, code, client), 400, 'invalid_grant');
    },
  );

  verifies(
    'as.code-single-use',
    'the token endpoint refuses a code that was used before, and revokes the tokens of the first use',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const code = await obtainCode(server, client);
      const { accessToken, refreshToken } = tokensOf(await redeem(server, code, client));
      expect(await callResource(server, accessToken)).toMatchObject({ status: 200 });
      expectError(await redeem(server, code, client), 400, 'invalid_grant');
      expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
      expectError(await refresh(server, refreshToken, client), 400, 'invalid_grant');
      expect(server.logged.map(({ message }) => message)).toContain('authorization code reused');
    },
  );

  test('a code that is used again without its verifier revokes nothing', async () => {
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
    'a code that is redeemed fifty times at once is redeemed once, and its tokens are revoked',
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

  verifies(
    'as.code-short-lived',
    'a code that expires while it is redeemed leaves no grant',
    async () => {
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
    },
  );

  /** Redeems codes; the first call of a store fails for the first code, the second for the second. */
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
    'a code is redeemed by the next attempt, whichever call of a store failed in the first',
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
    'a code is used up only if the response of the last call of a store was lost',
    async () => {
      const statuses: number[] = [];
      for await (const { retried } of failuresAt(true)) statuses.push(retried.status);
      const last = statuses.length - 1;
      expect(statuses).toEqual(statuses.map((_, index) => (index < last ? 200 : 400)));
    },
  );
});

function failedReply(): Reply {
  throw new Error('no request was answered with tokens');
}
