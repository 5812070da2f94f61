import { describe, expect } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import {
  aRoute,
  ISSUER,
  RESOURCE,
  startAuthorizationServer,
} from '../../support/authorization-server.ts';
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
  tokensOf,
} from '../../support/client-flow.ts';
import { expectError, TWO_HOSTS, OTHER_ISSUER, MINUTE } from '../../support/token-cases.ts';
import { READING_MS } from '../../support/patient-user.ts';

describe('The resource of a token request', () => {
  for (const resource of [RESOURCE, `${RESOURCE}/`, `${RESOURCE}/below`]) {
    verifies('as.resource', `the token endpoint accepts the resource ${resource}`, async () => {
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
    verifies(
      'as.resource',
      `the token endpoint refuses the resource ${resource}, and accepts the code afterwards`,
      async () => {
        const routes = [aRoute(), aRoute({ path: { kind: 'prefix', value: '/other' } })];
        await using server = await startAuthorizationServer({ routes });
        const client = await register(server);
        const code = await obtainCode(server, client);
        expectError(await redeem(server, code, client, { resource }), 400, 'invalid_target');
        const reply = await redeem(server, code, client);
        const { refreshToken } = tokensOf(reply);
        expectError(
          await refresh(server, refreshToken, client, { resource }),
          400,
          'invalid_target',
        );
        expect(await refresh(server, refreshToken, client)).toMatchObject({ status: 200 });
      },
    );
  }
});

describe('An external token', () => {
  verifies(
    ['tokens.external-limited', 'as.resource', 'rs.audience'],
    'an external token is refused on another route and on another host',
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
    'an external token of one name of a wildcard host is refused on another name',
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
    'an external token is refused after the lifetime in its response',
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
      `an external token of a session that ends in ${String(lifetimeMs)} ms does not outlive it`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server);
        const expiresAt = server.clock.now + READING_MS + lifetimeMs;
        const cookie = await server.signIn(ISSUER, { expiresAt });
        const redirect = await decide(server, authorizationUrl(client.id), cookie);
        const reply = await redeem(server, redirect.searchParams.get('code') ?? '', client);
        expect(fieldsOf(reply)).toMatchObject({ expires_in: expiresIn });
      },
    );
  }

  verifies(
    'as.grant-active',
    'an external token is refused at once after its session was revoked',
    async () => {
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
    },
  );
});
