import { expect, test } from '@jest/globals';

import { redeemCode } from '../../../../../proxy/upstream-oauth/protocol/token-requests.ts';
import type { UpstreamServer } from '../../../../../proxy/upstream-oauth/upstream-authorization.ts';
import {
  ISSUER,
  jsonResponse,
  serverAnswering,
} from '../../../../support/upstream-oauth/answering-server.ts';

const STARTED = {
  state: 'state-1',
  redirectUri: 'https://files.example.com/.gateway/mcp/client/oauth/callback',
  codeVerifier: 'v'.repeat(43),
  requiresIss: false,
};

const REQUIRES_ISS = { ...STARTED, requiresIss: true };

function redeemAt(query: string, started = STARTED, members: Partial<UpstreamServer> = {}) {
  const tokens = { access_token: 'access-1', token_type: 'Bearer' };
  const { server, requests } = serverAnswering(() => jsonResponse(tokens), members);
  const sent = new URLSearchParams(query);
  return { requests, redeemed: redeemCode(server, sent, started, 'https://upstream.example.com') };
}

test('A code is redeemed with its verifier, its redirect URI and the resource', async () => {
  const { requests, redeemed } = redeemAt('code=c-1&state=state-1');
  expect(await redeemed).toEqual({ accessToken: 'access-1' });
  expect(requests[0]?.form).toEqual({
    grant_type: 'authorization_code',
    code: 'c-1',
    redirect_uri: STARTED.redirectUri,
    code_verifier: STARTED.codeVerifier,
    client_id: 'gatehouse',
    resource: 'https://upstream.example.com',
  });
});

test.each([
  ['has the issuer', `iss=${ISSUER}`, STARTED, {}],
  ['has the issuer that it must have', `iss=${ISSUER}`, REQUIRES_ISS, {}],
  [
    'has an issuer, and the operator gave the endpoints',
    'iss=https://x.com',
    STARTED,
    { isGiven: true },
  ],
])('A response is accepted that %s', async (_case, parameters, started, members) => {
  const { redeemed } = redeemAt(`code=c-1&state=state-1&${parameters}`, started, members);
  expect(await redeemed).toEqual({ accessToken: 'access-1' });
});

test.each([
  ['has another issuer', 'code=c-1&state=state-1&iss=https://other.example.com', STARTED],
  ['has the issuer in another spelling', `code=c-1&state=state-1&iss=${ISSUER}/`, STARTED],
  ['lacks the issuer that it must have', 'code=c-1&state=state-1', REQUIRES_ISS],
  ['is an error of another issuer', 'error=access_denied&state=state-1&iss=https://x.com', STARTED],
  ['is an error without the issuer', 'error=access_denied&state=state-1', REQUIRES_ISS],
  ['has another state', 'code=c-1&state=state-2', STARTED],
  ['has no state', 'code=c-1', STARTED],
  ['has two codes', 'code=c-1&code=c-2&state=state-1', STARTED],
  ['has no code', 'state=state-1', STARTED],
  ['has tokens', 'access_token=a&token=b&state=state-1', STARTED],
])('A response is refused that %s, and no code is sent', async (_case, query, started) => {
  const { requests, redeemed } = redeemAt(query, started);
  await expect(redeemed).rejects.toMatchObject({ reason: 'upstream-response-invalid' });
  expect(requests).toEqual([]);
});

test('A refusal of the server is known by its code, and its words are not repeated', async () => {
  const { requests, redeemed } = redeemAt(
    `error=access_denied&error_description=private+words&state=state-1&iss=${ISSUER}`,
  );
  const [outcome] = await Promise.allSettled([redeemed]);
  expect(outcome).toMatchObject({
    reason: { reason: 'upstream-authorization-refused', code: 'access_denied' },
  });
  expect(JSON.stringify(outcome)).not.toContain('private');
  expect(requests).toEqual([]);
});
