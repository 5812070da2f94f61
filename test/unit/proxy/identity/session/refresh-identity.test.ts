import { expect, test } from '@jest/globals';
import { customFetch } from 'openid-client';

import { ProviderDiscovery } from '../../../../../proxy/identity-provider/provider-discovery.ts';
import { refreshIdentity } from '../../../../../proxy/identity/session/refresh-identity.ts';
import { startUpstream } from '../../../../support/upstream.ts';

const IDENTITY = { provider: 'test', subject: 'u1', groups: [], claims: {} };

/** A provider without identity tokens and userinfo. */
function startProvider() {
  return startUpstream((message, response) => {
    const issuer = `http://${String(message.headers.host)}`;
    const answer =
      message.url === '/token'
        ? { access_token: 'a', token_type: 'bearer', refresh_token: 'next' }
        : { issuer, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
}

test.each([
  ['once', false],
  ['also when its response was not observed', true],
])('stores the refresh token that the provider issued, %s', async (_how, isUnobserved) => {
  await using provider = await startProvider();
  const discovery = new ProviderDiscovery({ devAllowLoopback: true, now: Date.now });
  const client = await discovery.clientOf({
    ...{
      kind: 'identity-provider',
      name: 'test',
      issuer: provider.origin,
      signIn: true,
      clientId: 'c',
    },
    authorizationParams: {},
  });
  if (isUnobserved) {
    client[customFetch] = (url, { body = null, ...options }) => fetch(url, { ...options, body });
  }
  const kept: string[] = [];
  const keep = (refreshToken: string): Promise<void> => {
    kept.push(refreshToken);
    return Promise.resolve();
  };
  const credentials = {
    refreshToken: 'sent',
    identity: IDENTITY,
    settings: { name: 'test', issuer: provider.origin },
  };
  expect(await refreshIdentity(client, credentials, keep)).toMatchObject({ kind: 'over' });
  expect(kept).toEqual(['next']);
});
