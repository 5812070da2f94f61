import { describe, expect } from '@jest/globals';

import { startGatewayWithUsers } from '../../support/gateway-with-users.ts';
import { openForAll } from '../../support/open-for-all.ts';
import {
  bearer,
  expectChallenge,
  METADATA,
  post,
  startProtectedResourceWorld,
} from '../../support/protected-resource-world.ts';
import { postForm, signInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startProtectedResourceWorld);

const MINUTE = 60_000;

describe('A request with an invalid token', () => {
  const TOKENS: readonly (readonly [string, () => string | Promise<string>])[] = [
    ['it is garbage', () => 'garbage'],
    ['it has only the prefix of one', () => 'gte_garbage'],
    ['it was altered', () => altered(world().client.accessToken)],
    ['characters follow it', () => `${world().client.accessToken}A`],
    ['it is a refresh token', () => world().client.refreshToken],
    ['it is for another host', () => world().filesClient.accessToken],
    ['another gateway issued it', tokenOfAnotherGateway],
    ['it was revoked', revokedToken],
  ];

  for (const [what, token] of TOKENS) {
    verifies(
      ['rs.challenge', 'mcp.token-required', 'rs.audience'],
      `a token is challenged as invalid, without the reason, if ${what}`,
      async () => {
        const value = await token();
        await world().expectUpstreamUntouched(async () => {
          const answer = await post(world().only, bearer(value));
          expectChallenge(answer, { metadata: world().only + METADATA, error: 'invalid_token' });
          expect(answer.body).not.toContain(value);
        });
      },
    );
  }

  verifies(
    ['rs.challenge', 'tokens.external-limited'],
    'a token is challenged as invalid after its quarter of an hour',
    async () => {
      let offset = 0;
      await using aged = await startGatewayWithUsers({ now: () => Date.now() + offset });
      const from = aged.originOf('only');
      await aged.configure({
        only: {
          from,
          to: world().upstream.origin,
          mcp: { server: {} },
          allowAnyAuthenticatedUser: true,
        },
      });
      const { accessToken } = await signInClient(from);
      offset = 14 * MINUTE;
      expect((await post(from, bearer(accessToken))).status).toBe(200);
      offset = 16 * MINUTE;
      const answer = await post(from, bearer(accessToken));
      expectChallenge(answer, { metadata: from + METADATA, error: 'invalid_token' });
    },
  );

  verifies(
    'tokens.external-limited',
    'a token is challenged as invalid after the gateway was renamed',
    async () => {
      await using renamed = await startGatewayWithUsers();
      const from = renamed.originOf('only');
      const routes = {
        only: {
          from,
          to: world().upstream.origin,
          mcp: { server: {} },
          allowAnyAuthenticatedUser: true,
        },
      };
      await renamed.configure(routes);
      const { accessToken } = await signInClient(from);
      expect((await post(from, bearer(accessToken))).status).toBe(200);
      await renamed.configure(routes, { name: 'another' });
      const answer = await post(from, bearer(accessToken));
      expectChallenge(answer, { metadata: from + METADATA, error: 'invalid_token' });
    },
  );
});

function altered(token: string): string {
  const middle = Math.floor(token.length / 2);
  const other = token.charAt(middle) === 'A' ? 'B' : 'A';
  return token.slice(0, middle) + other + token.slice(middle + 1);
}

async function tokenOfAnotherGateway(): Promise<string> {
  await using another = await startGatewayWithUsers();
  const from = another.originOf('only');
  await another.configure({
    only: {
      from,
      to: world().upstream.origin,
      mcp: { server: {} },
      allowAnyAuthenticatedUser: true,
    },
  });
  return (await signInClient(from)).accessToken;
}

async function revokedToken(): Promise<string> {
  const { accessToken, clientId, server } = await signInClient(world().only);
  expect((await post(world().only, bearer(accessToken))).status).toBe(200);
  const form = { token: accessToken, client_id: clientId };
  expect((await postForm(server.revocationEndpoint, form)).status).toBe(200);
  return accessToken;
}
