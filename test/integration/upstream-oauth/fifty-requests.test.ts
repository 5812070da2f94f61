import { setTimeout as wait } from 'node:timers/promises';

import { expect, test } from '@jest/globals';

import { ClientWithUser } from '../../support/client-with-user.ts';
import { startFleet } from '../../support/gateway-fleet.ts';
import { describeWithRedis } from '../../support/redis/describe-with-redis.ts';
import { startRedis } from '../../support/redis/start-redis.ts';
import { callMcp } from '../../support/signed-in-client.ts';
import { startUpstreamAuthorizationServer } from '../../support/upstream-oauth/authorization-server.ts';
import { startProtectedMcpServer } from '../../support/upstream-oauth/protected-mcp-server.ts';

const WHOAMI = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'whoami' } };
const REQUESTS = 50;
const LONGER_THAN_A_SECOND_MS = 1100;

describeWithRedis('Two processes behind a balancer', () => {
  test('refresh a token once for fifty requests that find it refused, or expired, and all succeed', async () => {
    await using redis = await startRedis();
    await using authorizationServer = await startUpstreamAuthorizationServer();
    const { issuer, verify } = authorizationServer;
    await using server = await startProtectedMcpServer({ authorizationServers: [issuer], verify });
    await using fleet = await startFleet({
      redisUrls: [redis.url, redis.url],
      settings: { mcpAllowedAsMetadataDomains: ['localhost'] },
      mcpRoute: { to: server.origin, mcp: { server: { path: '/mcp', upstreamOauth2: {} } } },
    });
    const { mcpUrl, identityProvider, balancer } = fleet;
    await using client = new ClientWithUser(mcpUrl, {
      loginAt: ({ url }) => (url.startsWith(identityProvider.issuer) ? 'alice' : 'up-alice'),
    });
    expect(await client.callTool('whoami')).toContain('up-alice');

    const call = () => callMcp(mcpUrl, client.accessToken, WHOAMI);
    const expectOneRefresh = async (): Promise<void> => {
      const before = authorizationServer.hits('token');
      const answers = await Promise.all(Array.from({ length: REQUESTS }, call));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(authorizationServer.hits('token') - before).toBe(1);
    };
    balancer.alternate();

    await authorizationServer.forget('AccessToken');
    await expectOneRefresh();

    // The next token has a short life, which ends while nobody calls.
    await authorizationServer.forget('AccessToken');
    authorizationServer.changeTokens = (tokens) => ({ ...tokens, expires_in: 1 });
    expect(await call()).toMatchObject({ status: 200 });
    authorizationServer.changeTokens = (tokens) => tokens;
    await wait(LONGER_THAN_A_SECOND_MS);
    await expectOneRefresh();
    expect(client.authorizations).toBe(1);
  });
});
