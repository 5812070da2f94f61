import { expect, test } from '@jest/globals';

import { upstreamAuthorizationUrl } from '../../../../../proxy/upstream-oauth/protocol/authorization-url.ts';
import type { UpstreamAuthorization } from '../../../../../proxy/upstream-oauth/upstream-authorization.ts';
import {
  jsonResponse,
  serverAnswering,
} from '../../../../support/upstream-oauth/answering-server.ts';

const { server } = serverAnswering(() => jsonResponse({}));
const AUTHORIZATION: UpstreamAuthorization = {
  ...server,
  resource: 'https://upstream.example.com/mcp',
  scopes: ['read', 'write'],
};
const ROUTE = { authorizationParams: {}, sendsResource: true };
const CONNECTION = {
  redirectUri: 'https://files.example.com/.gateway/mcp/client/oauth/callback',
  state: 'state-1',
  // RFC 7636, appendix B.
  codeVerifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
};

async function parametersOf(
  authorization = AUTHORIZATION,
  route: Parameters<typeof upstreamAuthorizationUrl>[1] = ROUTE,
): Promise<Readonly<Record<string, string>>> {
  const url = await upstreamAuthorizationUrl(authorization, route, CONNECTION);
  expect(url.origin + url.pathname).toBe('https://as.example.com/authorize');
  return Object.fromEntries(url.searchParams);
}

test('The authorization URL asks for a code with PKCE, for the resource and the scopes', async () => {
  expect(await parametersOf()).toEqual({
    response_type: 'code',
    client_id: 'gatehouse',
    redirect_uri: CONNECTION.redirectUri,
    state: 'state-1',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    scope: 'read write',
    resource: 'https://upstream.example.com/mcp',
  });
});

test('What is not asked for is left out', async () => {
  const parameters = await parametersOf(
    { ...AUTHORIZATION, scopes: [] },
    { ...ROUTE, sendsResource: false },
  );
  expect(parameters).not.toHaveProperty('scope');
  expect(parameters).not.toHaveProperty('resource');
});

test('Further parameters are added, and replace none of the protocol', async () => {
  const authorizationParams = { prompt: 'consent', state: 'state-2', client_id: 'another' };
  expect(await parametersOf(AUTHORIZATION, { ...ROUTE, authorizationParams })).toMatchObject({
    prompt: 'consent',
    state: 'state-1',
    client_id: 'gatehouse',
  });
});

test('The query of the endpoint is kept', async () => {
  const authorizationEndpoint = 'https://as.example.com/authorize?tenant=7&state=fixed';
  const metadata = { ...server.server, authorization_endpoint: authorizationEndpoint };
  expect(await parametersOf({ ...AUTHORIZATION, server: metadata })).toMatchObject({
    tenant: '7',
    state: 'state-1',
  });
});
