import { expect } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import { startGatewayWithUsers } from '../../support/gateway-with-users.ts';
import { send } from '../../support/http-client.ts';

const PATH = '/.gateway/mcp/client/metadata.json';
const ROUTE = { to: 'https://mcp.example', allowAnyAuthenticatedUser: true };

verifies(
  'upstream.client-metadata-document',
  'the document is at its client ID, names the callback, and is on hosts that need it only',
  async () => {
    await using users = await startGatewayWithUsers();
    const [discovered = '', given = '', plain = ''] = ['a', 'b', 'c'].map((name) =>
      users.originOf(name),
    );
    await users.configure({
      discovered: { ...ROUTE, from: discovered, mcp: { server: { upstreamOauth2: {} } } },
      given: {
        ...ROUTE,
        from: given,
        mcp: { server: { upstreamOauth2: { clientId: 'given-client' } } },
      },
      plain: { ...ROUTE, from: plain, mcp: { server: {} } },
    });

    const response = await send(discovered + PATH);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe('application/json');
    expect(JSON.parse(response.body)).toEqual({
      client_id: discovered + PATH,
      client_name: `Gatehouse at ${new URL(discovered).host}`,
      client_uri: discovered,
      application_type: 'web',
      redirect_uris: [`${discovered}/.gateway/mcp/client/oauth/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    expect(await send(given + PATH)).toMatchObject({ status: 404 });
    expect(await send(plain + PATH)).toMatchObject({ status: 404 });
  },
);
