import { describe, expect } from '@jest/globals';

import { startGatewayWithUsers, type RouteSpec } from '../../support/gateway-with-users.ts';
import { send } from '../../support/http-client.ts';
import { obtainTokens, type TokensWanted } from '../../support/provider-tokens.ts';
import { startUpstream } from '../../support/upstream.ts';
import { verifies } from '../../requirements/verifies.ts';

type Policy = NonNullable<RouteSpec['policy']>;

const ANYBODY = { and: [{ authenticated_user: true }] };
const DENIES_SALES: Policy = { allow: ANYBODY, deny: { and: [{ groups: { has: 'sales' } }] } };
const ALLOWS_ENGINEERS: Policy = { allow: { and: [{ groups: { has: 'engineering' } }] } };

/** Names no groups, and cannot be used at userinfo. */
const WITHOUT_GROUPS = { resource: 'https://jwt.gateway.example', scope: 'read' };

/** Returns the status for a token of a user, on a route with a policy. */
async function statusOf(policy: Policy, wanted: TokensWanted): Promise<number> {
  await using upstream = await startUpstream((_message, response) => response.end());
  await using users = await startGatewayWithUsers({}, { introspection: true });
  users.identityProvider.users.set('dora', { email: 'dora@example.com', email_verified: true });
  const from = users.originOf('app');
  const bearerTokenFormat = 'idp_access_token';
  await users.configure({ app: { from, to: upstream.origin, bearerTokenFormat, policy } });
  const { accessToken } = await obtainTokens(users.identityProvider, wanted);
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await send(`${from}/`, { headers })).status;
}

describe('A policy about groups', () => {
  verifies('bearer.groups', 'is decided by the groups that userinfo names', async () => {
    expect(await statusOf(DENIES_SALES, { login: 'alice' })).toBe(200);
    expect(await statusOf(DENIES_SALES, { login: 'bob' })).toBe(403);
    expect(await statusOf(DENIES_SALES, { login: 'dora' })).toBe(200);
    expect(await statusOf(ALLOWS_ENGINEERS, { login: 'alice' })).toBe(200);
  });

  verifies(
    'bearer.groups',
    'is not passed with fewer scopes than the gateway asks for',
    async () => {
      const wanted = { login: 'bob', scope: 'openid profile' };
      expect(await statusOf(DENIES_SALES, wanted)).toBe(403);
      expect(await statusOf({ allow: ANYBODY }, wanted)).toBe(200);
    },
  );

  verifies('bearer.groups', 'is not passed by leaving the groups out of a token', async () => {
    expect(await statusOf(DENIES_SALES, { login: 'bob', ...WITHOUT_GROUPS })).toBe(403);
    expect(await statusOf(ALLOWS_ENGINEERS, { login: 'alice', ...WITHOUT_GROUPS })).toBe(403);
    expect(await statusOf({ allow: ANYBODY }, { login: 'bob', ...WITHOUT_GROUPS })).toBe(200);
  });
});
