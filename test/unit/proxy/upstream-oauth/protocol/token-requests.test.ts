import { expect, test } from '@jest/globals';

import { OutboundFailedError } from '../../../../../proxy/outbound/outbound-errors.ts';
import { TokenRequestError } from '../../../../../proxy/upstream-oauth/protocol/token-request-error.ts';
import {
  refreshTokens,
  revokeUpstreamToken,
} from '../../../../../proxy/upstream-oauth/protocol/token-requests.ts';
import {
  type AnsweringServer,
  jsonResponse,
  serverAnswering,
} from '../../../../support/upstream-oauth/answering-server.ts';

const TOKENS = { access_token: 'access-2', token_type: 'Bearer' };
const SECRET = 'private words of the server';
const YEAR = 365 * 24 * 3600;

function serverWith(members: object, status?: number): AnsweringServer {
  return serverAnswering(() => jsonResponse(members, status));
}

function refreshAt({ server }: AnsweringServer, resource?: string) {
  return refreshTokens(server, 'refresh-1', resource);
}

async function failureOf(work: Promise<unknown>): Promise<TokenRequestError> {
  const [outcome] = await Promise.allSettled([work]);
  if (outcome.status === 'fulfilled') throw new Error('it did not fail');
  expect(outcome.reason).toBeInstanceOf(TokenRequestError);
  // Just checked.
  return outcome.reason as TokenRequestError;
}

test('A refresh request has the refresh token, the client and the resource', async () => {
  const answering = serverWith(TOKENS);
  await refreshAt(answering, 'https://upstream.example.com/mcp');
  expect(answering.requests).toEqual([
    expect.objectContaining({
      url: 'https://as.example.com/token',
      form: {
        grant_type: 'refresh_token',
        refresh_token: 'refresh-1',
        client_id: 'gatehouse',
        resource: 'https://upstream.example.com/mcp',
      },
    }),
  ]);
});

test('A refresh request names no resource where the route says so', async () => {
  const answering = serverWith(TOKENS);
  await refreshAt(answering);
  expect(answering.requests[0]?.form).not.toHaveProperty('resource');
});

test('An id and a secret are encoded as a form, and no further', async () => {
  const client = {
    id: 'our-client_1.x',
    secret: 'a:b +%',
    authMethod: 'client_secret_basic',
    source: 'given',
  } as const;
  const answering = serverAnswering(() => jsonResponse(TOKENS), { client });
  await refreshAt(answering);
  const { authorization = '' } = answering.requests[0]?.headers ?? {};
  const credentials = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
  expect(credentials).toBe('our-client_1.x:a%3Ab+%2B%25');
});

test.each([
  ['client_secret_basic', 's3cret', { authorization: 'Basic Z2F0ZWhvdXNlOnMzY3JldA==' }, {}],
  ['client_secret_post', 's3cret', {}, { client_id: 'gatehouse', client_secret: 's3cret' }],
  ['none', undefined, {}, { client_id: 'gatehouse' }],
  ['client_secret_basic', undefined, {}, { client_id: 'gatehouse' }],
] as const)(
  'A client of %s with the secret %s authenticates so',
  async (authMethod, secret, headers, form) => {
    const client = {
      id: 'gatehouse',
      authMethod,
      source: 'given',
      ...(secret && { secret }),
    } as const;
    const answering = serverAnswering(() => jsonResponse(TOKENS), { client });
    await refreshAt(answering);
    const [request] = answering.requests;
    expect(request?.headers).toEqual(expect.objectContaining(headers));
    const ofRefresh = { grant_type: 'refresh_token', refresh_token: 'refresh-1' };
    expect(request?.form).toEqual({ ...ofRefresh, ...form });
    expect('authorization' in (request?.headers ?? {})).toBe('authorization' in headers);
  },
);

test.each([
  ['only a token', {}, {}],
  ['a new refresh token', { refresh_token: 'refresh-2' }, { refreshToken: 'refresh-2' }],
  ['an empty refresh token', { refresh_token: '' }, {}],
  ['null for a refresh token', { refresh_token: null }, {}],
  ['a life', { expires_in: 60 }, { lifetimeSeconds: 60 }],
  ['a life as a text', { expires_in: '60' }, { lifetimeSeconds: 60 }],
  ['a life of zero', { expires_in: 0 }, {}],
  ['a negative life', { expires_in: -1 }, {}],
  ['null for a life', { expires_in: null }, {}],
  ['words for a life', { expires_in: 'never' }, {}],
  ['a huge life', { expires_in: 1e18 }, { lifetimeSeconds: YEAR }],
  ['a life beyond numbers', { expires_in: '1e999' }, {}],
  ['scopes', { scope: 'read write' }, { scopes: ['read', 'write'] }],
  ['scopes as GitHub writes them', { scope: 'repo,gist' }, { scopes: ['repo', 'gist'] }],
  ['an empty scope', { scope: '' }, {}],
  ['a list of scopes', { scope: ['read'] }, {}],
  ['a token type in other letters', { token_type: 'bearer' }, {}],
  ['an identity token', { id_token: 'not.a.token' }, {}],
])('A response with %s is read', async (_case, members, expected) => {
  const tokens = await refreshAt(serverWith({ ...TOKENS, ...members }));
  expect(tokens).toEqual({ accessToken: 'access-2', ...expected });
});

test('A form is read like JSON', async () => {
  const body = 'access_token=access-2&token_type=bearer&expires_in=60&scope=';
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  const tokens = await refreshAt(serverAnswering(() => new Response(body, { headers })));
  expect(tokens).toEqual({ accessToken: 'access-2', lifetimeSeconds: 60 });
});

test.each([
  ['of another type', { token_type: 'DPoP' }],
  ['of no type', { token_type: undefined }],
  ['of a type nobody knows', { token_type: 'mac' }],
  ['with a line break', { access_token: 'a\r\nX-Admin: 1' }],
  ['with a space', { access_token: 'a b' }],
  ['that is too long', { access_token: 'x'.repeat(16_385) }],
  ['beside a refresh token that is too long', { refresh_token: 'x'.repeat(16_385) }],
])('A token %s is not used', async (_case, members) => {
  const { reason, message } = await failureOf(refreshAt(serverWith({ ...TOKENS, ...members })));
  expect(reason).toBe('upstream-token-unusable');
  expect(message).toContain('as.example.com');
});

test.each([
  ['400', { error: 'invalid_grant' }, 400, 'invalid_grant'],
  ['401', { error: 'invalid_client' }, 401, 'invalid_client'],
  ['success', { error: 'invalid_grant' }, 200, 'invalid_grant'],
  ["GitHub's word for it", { error: 'bad_refresh_token' }, 200, 'invalid_grant'],
  ["Slack's word for it", { ok: false, error: 'invalid_refresh_token' }, 200, 'invalid_grant'],
  ['a word of JavaScript', { error: 'constructor' }, 400, 'constructor'],
  ['a word that is not one', { error: 'a"b' }, 400, 'malformed error code'],
])('A refusal with %s is known by its code', async (_case, members, status, code) => {
  const body = { ...members, error_description: SECRET };
  const failure = await failureOf(refreshAt(serverWith(body, status)));
  expect(failure).toMatchObject({ reason: 'upstream-authorization-refused', code });
  expect(failure.message).not.toContain(SECRET);
  expect(failure.cause).toBeUndefined();
});

test('A refusal beside a challenge is known by its code', async () => {
  const headers = { 'www-authenticate': 'Basic realm="as"' };
  const answer = () => Response.json({ error: 'invalid_client' }, { status: 401, headers });
  expect(await failureOf(refreshAt(serverAnswering(answer)))).toMatchObject({
    code: 'invalid_client',
  });
});

test.each([
  ['a page', () => new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } })],
  ['JSON that is no object', () => jsonResponse(['access-2'])],
  ['an object without a token', () => jsonResponse({ ok: true })],
  ['a server error', () => jsonResponse(TOKENS, 500)],
  ['an OAuth error and a server error', () => jsonResponse({ error: 'invalid_grant' }, 503)],
  ['too many requests', () => jsonResponse({ error: 'invalid_grant' }, 429)],
  ['a temporary error', () => jsonResponse({ error: 'temporarily_unavailable' }, 400)],
  ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://x.com' } })],
  ['nothing', () => new Response(null, { status: 204 })],
  ['a timeout', () => Promise.reject(new OutboundFailedError('timeout', 'too slow'))],
])('A server that answers with %s counts as unavailable', async (_case, answer) => {
  const failure = await failureOf(refreshAt(serverAnswering(answer)));
  expect(failure.reason).toBe('upstream-authorization-unavailable');
});

test('A revocation request has the token, its kind and the client', async () => {
  const answering = serverAnswering(() => new Response(null, { status: 200 }));
  await revokeUpstreamToken(answering.server, 'refresh-1', 'refresh_token');
  expect(answering.requests[0]).toMatchObject({
    url: 'https://as.example.com/revoke',
    form: { token: 'refresh-1', token_type_hint: 'refresh_token', client_id: 'gatehouse' },
  });
});
