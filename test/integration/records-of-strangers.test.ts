import { expect, test } from '@jest/globals';

import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import { startGatewayWithUsers } from '../support/gateway-with-users.ts';
import { membersOf, send } from '../support/http-client.ts';

const CALLBACK = 'http://127.0.0.1:1/callback';
const FROM = { 'x-forwarded-for': '2001:db8:1:2::3' };
const END_SITE = '2001:db8:1::/48';

// Attack: one customer of a provider has 65,536 networks, and fills the memory that all clients share.
test('everything that strangers store counts for their end site', async () => {
  const stores = createMemoryStores();
  const owners: Record<string, string | undefined> = {};
  const register = stores.clients.register.bind(stores.clients);
  stores.clients.register = (client, seconds, endSite) => {
    owners['client'] = endSite;
    return register(client, seconds, endSite);
  };
  const saveAuthorization = stores.pendingAuthorizations.save.bind(stores.pendingAuthorizations);
  stores.pendingAuthorizations.save = (key, value, seconds, endSite) => {
    owners['authorization'] = endSite;
    return saveAuthorization(key, value, seconds, endSite);
  };
  const saveSignIn = stores.pendingSignIns.save.bind(stores.pendingSignIns);
  stores.pendingSignIns.save = (key, value, seconds, endSite) => {
    owners['sign-in'] = endSite;
    return saveSignIn(key, value, seconds, endSite);
  };
  await using world = await startGatewayWithUsers({ stores });
  const url = world.originOf('mcp');
  const route = { from: url, to: 'http://127.0.0.1:9', allowAnyAuthenticatedUser: true };
  const settings = { trustedProxies: ['127.0.0.0/8'] };
  await world.configure({ mcp: { ...route, mcp: { server: {} } } }, settings);

  const registered = await send(`${url}/.gateway/mcp/register`, {
    method: 'POST',
    headers: { ...FROM, 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }),
  });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: String(membersOf(registered)['client_id']),
    redirect_uri: CALLBACK,
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  // To the consent page, to the sign-in, and to the identity provider.
  let next = `${url}/.gateway/mcp/authorize?${query.toString()}`;
  while (next.startsWith(url)) {
    const { headers } = await send(next, { headers: { ...FROM, accept: 'text/html' } });
    next = headers.location ?? '';
  }
  expect(owners).toEqual({ client: END_SITE, authorization: END_SITE, 'sign-in': END_SITE });
});
