import { expect } from '@jest/globals';

import {
  CHALLENGE,
  ISSUER,
  LOOPBACK_CALLBACK,
  RESOURCE,
  VERIFIER,
  type Reply,
  type TestServer,
} from './authorization-server.ts';
import { READING_MS } from './patient-user.ts';

type Parameters = Readonly<Record<string, string | undefined>>;

/** A registered client. */
export interface RegisteredTestClient {
  readonly id: string;
  readonly secret?: string;
}

/** The tokens of a client after a sign-in. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly client: RegisteredTestClient;
}

export const AUTHORIZE_URL = `${ISSUER}/.gateway/mcp/authorize`;
export const TOKEN_URL = `${ISSUER}/.gateway/mcp/token`;
export const REVOKE_URL = `${ISSUER}/.gateway/mcp/revoke`;

/** Registers a client, which is public and native unless the metadata differ. */
export async function register(
  server: TestServer,
  metadata: Readonly<Record<string, unknown>> = {},
  issuer: string = ISSUER,
): Promise<RegisteredTestClient> {
  const body = JSON.stringify({
    client_name: 'Test client',
    redirect_uris: [LOOPBACK_CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...metadata,
  });
  const reply = await server.send(`${issuer}/.gateway/mcp/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(reply.status).toBe(201);
  const { client_id: id, client_secret: secret } = fieldsOf(reply);
  return { id: String(id), ...(typeof secret === 'string' && { secret }) };
}

/** A complete authorization request; `undefined` leaves a parameter out. */
export function authorizationUrl(
  clientId: string,
  changes: Parameters = {},
  url: string = AUTHORIZE_URL,
): string {
  const parameters = present({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: LOOPBACK_CALLBACK,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: 'the-state',
    resource: RESOURCE,
    ...changes,
  });
  return `${url}?${new URLSearchParams(parameters).toString()}`;
}

/** The form of a consent page, as a browser posts it. */
export function consentForm(page: Reply, decision: 'approve' | 'deny'): Record<string, string> {
  const field = (name: string): string =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(page.body)?.[1] ?? '';
  return { request: field('request'), seal: field('seal'), decision };
}

/** Takes an authorization request through the consent page; returns the redirect to the client. */
export async function decide(
  server: TestServer,
  url: string,
  cookie: string,
  decision: 'approve' | 'deny' = 'approve',
): Promise<URL> {
  const { headers } = await server.send(url);
  const consentUrl = headers.location ?? '';
  const page = await server.send(consentUrl, { headers: { cookie } });
  if (page.status === 303) return new URL(page.headers.location ?? '');
  expect(page.status).toBe(200);
  server.clock.now += READING_MS;
  const answer = await server.send(consentUrl.replace(/\?.*/, ''), {
    headers: { cookie, origin: new URL(consentUrl).origin },
    form: consentForm(page, decision),
  });
  expect(answer.status).toBe(303);
  return new URL(answer.headers.location ?? '');
}

/** Signs a user in and gets a code for a client. */
export async function obtainCode(
  server: TestServer,
  client: RegisteredTestClient,
  changes: Parameters = {},
): Promise<string> {
  const cookie = await server.signIn();
  const redirect = await decide(server, authorizationUrl(client.id, changes), cookie);
  return redirect.searchParams.get('code') ?? '';
}

/** A token request that redeems a code; `undefined` leaves a parameter out. */
export function redeem(
  server: TestServer,
  code: string,
  client: RegisteredTestClient,
  changes: Parameters = {},
): Promise<Reply> {
  return postAs(server, TOKEN_URL, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: LOOPBACK_CALLBACK,
    code_verifier: VERIFIER,
    ...changes,
  });
}

export function refresh(
  server: TestServer,
  refreshToken: string,
  client: RegisteredTestClient,
  changes: Parameters = {},
): Promise<Reply> {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, ...changes };
  return postAs(server, TOKEN_URL, client, form);
}

export function revoke(
  server: TestServer,
  token: string,
  client: RegisteredTestClient,
  changes: Parameters = {},
): Promise<Reply> {
  return postAs(server, REVOKE_URL, client, { token, ...changes });
}

function postAs(
  server: TestServer,
  url: string,
  { id, secret }: RegisteredTestClient,
  form: Parameters,
): Promise<Reply> {
  return server.send(url, { form: present({ client_id: id, client_secret: secret, ...form }) });
}

/** Signs a user in for a public client, and returns its tokens. */
export async function logIn(server: TestServer, changes: Parameters = {}): Promise<Tokens> {
  const client = await register(server);
  const reply = await redeem(server, await obtainCode(server, client, changes), client);
  expect(reply.status).toBe(200);
  return { ...tokensOf(reply), client };
}

export function tokensOf(reply: Reply): Omit<Tokens, 'client'> {
  const { access_token, refresh_token } = fieldsOf(reply);
  return { accessToken: String(access_token), refreshToken: String(refresh_token) };
}

/** Calls a resource with a token. */
export function callResource(
  server: TestServer,
  accessToken: string,
  url: string = RESOURCE,
): Promise<Reply> {
  return server.send(url, { headers: { authorization: `Bearer ${accessToken}` } });
}

/** Parses the members of a JSON object. */
export function fieldsOf({ body }: Reply): Readonly<Record<string, unknown>> {
  // A test that expects an object fails at a missing member.
  return JSON.parse(body) as Record<string, unknown>;
}

function present(parameters: Parameters): Record<string, string> {
  const entries = Object.entries(parameters);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
