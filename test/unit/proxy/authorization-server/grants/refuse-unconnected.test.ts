import { describe, expect, test } from '@jest/globals';

import { StoreUnavailableError } from '../../../../../proxy/store/store-unavailable-error.ts';
import { aRoute, startAuthorizationServer } from '../../../../support/authorization-server.ts';
import { logIn, refresh, tokensOf } from '../../../../support/client-flow.ts';

const UPSTREAM_OAUTH = { routeId: 'route-1', authorizationParams: {}, sendsResource: true };
const OF_UPSTREAM = aRoute({
  mcpServer: { path: '', maxRequestBytes: 4096, upstreamOAuth: UPSTREAM_OAUTH },
});

describe('a refresh token for a route whose upstream has OAuth of its own', () => {
  test.each([
    ['refused while the user has to connect', () => Promise.resolve(false), 400, 'invalid_grant'],
    [
      'unavailable while the store does not say whether',
      () => Promise.reject(new StoreUnavailableError('away')),
      503,
      'temporarily_unavailable',
    ],
  ])('is %s, and is not used up', async (_what, isConnected, status, error) => {
    await using server = await startAuthorizationServer({ routes: [OF_UPSTREAM] });
    const { client, refreshToken } = await logIn(server);
    server.connections.isConnected = isConnected;
    for (let time = 0; time < 2; time += 1) {
      const reply = await refresh(server, refreshToken, client);
      expect({ status: reply.status, body: JSON.parse(reply.body) as unknown }).toMatchObject({
        ...{ status, body: { error } },
      });
    }
    server.connections.isConnected = () => Promise.resolve(true);
    tokensOf(await refresh(server, refreshToken, client));
    expect(server.logged.map(({ message }) => message)).not.toContain('refresh token replayed');
  });
});

test('a refresh token for any other route costs no look-up of connections', async () => {
  await using server = await startAuthorizationServer();
  const { client, refreshToken } = await logIn(server);
  server.connections.isConnected = () => Promise.reject(new Error('asked'));
  expect((await refresh(server, refreshToken, client)).status).toBe(200);
});
