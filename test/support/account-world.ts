import { createHash } from 'node:crypto';

import type { BrowserJar, BrowserPage } from './browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from './gateway-with-users.ts';
import { membersOf, send, type Answer } from './http-client.ts';
import { fieldsOfPatientUser } from './patient-user.ts';
import { signInAt } from './sign-in-world.ts';
import { callMcp, discover, postForm } from './signed-in-client.ts';
import { startUpstream } from './upstream.ts';

const VERIFIER = 'a-verifier-of-more-than-43-characters-for-this-world';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** Callback of a website, whose consent is remembered. Nobody opens it. */
const CALLBACK = 'https://client.example/callback';

/** A client of the world. */
export interface AccountClient {
  readonly id: string;
  readonly url: string;
}

/** Tokens of one grant. */
export interface AccountTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A gateway with MCP servers and a website on hosts of their own, and an authenticate host. */
export interface AccountWorld extends AsyncDisposable {
  readonly world: GatewayWithUsers;
  /** URL of the user's page. */
  readonly account: string;
  readonly files: string;
  readonly notes: string;
  readonly website: string;
  /** Moves the gateway's clock. */
  advance(milliseconds: number): void;
  /** Records of the audit log with this event. */
  events(event: string): readonly Readonly<Record<string, unknown>>[];
}

/** Starts a world. */
export async function startAccountWorld(): Promise<AccountWorld> {
  let offset = 0;
  await using opening = new AsyncDisposableStack();
  const now = (): number => Date.now() + offset;
  const world = opening.use(await startGatewayWithUsers({ now }));
  const upstream = opening.use(await startUpstream((_, response) => response.end()));
  const [files, notes, website, authenticate] = [
    world.originOf('files'),
    world.originOf('notes'),
    world.originOf('website'),
    world.originOf('authenticate'),
  ];
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  await world.configure(
    {
      files: { ...route, from: files, mcp: { server: {} } },
      notes: { ...route, from: notes, mcp: { server: {} } },
      website: { ...route, from: website },
    },
    { authenticateUrl: authenticate },
  );
  const opened = opening.move();
  return {
    ...{ world, files, notes, website },
    account: `${authenticate}/.gateway/`,
    advance: (milliseconds) => void (offset += milliseconds),
    events: (event) => world.gateway.logs().filter((record) => record['event'] === event),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Signs in at the authenticate host if necessary, and returns the user's page. */
export function openAccount(
  { account }: AccountWorld,
  browser: BrowserJar,
  login?: string,
): Promise<BrowserPage> {
  return signInAt(browser, `${account}sign_in`, login);
}

/** Registers a client with this name at an MCP server. */
export async function registerAt(url: string, name: string): Promise<AccountClient> {
  const { registrationEndpoint } = await discover(url);
  const answer = await send(registrationEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: name,
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    }),
  });
  return { id: String(membersOf(answer)['client_id']), url };
}

/** Opens the client's authorization request; stops before its callback. */
export async function openAuthorization(
  { id, url }: AccountClient,
  browser: BrowserJar,
): Promise<BrowserPage> {
  const { authorizationEndpoint, resource } = await discover(url);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: CALLBACK,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    resource,
  });
  return browser.open(`${authorizationEndpoint}?${query.toString()}`, { stopAt });
}

/** The user approves a client, and the client redeems its code. */
export async function approve(
  client: AccountClient,
  browser: BrowserJar,
  login = 'alice',
): Promise<AccountTokens> {
  let page = await openAuthorization(client, browser);
  for (let forms = 0; page.forms.length > 0 && forms < 2; forms += 1) {
    const isSignIn = 'login' in (page.forms[0]?.fields ?? {});
    const fields = isSignIn
      ? { login }
      : { ...fieldsOfPatientUser(page, browser), decision: 'approve' };
    page = await browser.submit(page, fields, { stopAt });
  }
  const { tokenEndpoint, resource } = await discover(client.url);
  const code = new URL(page.headers.location ?? '').searchParams.get('code') ?? '';
  const answer = await postForm(tokenEndpoint, {
    grant_type: 'authorization_code',
    client_id: client.id,
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    code,
    resource,
  });
  return tokensOf(answer);
}

function stopAt(url: string): boolean {
  return url.startsWith(CALLBACK);
}

/** Refreshes the tokens of a client. */
export async function refreshTokensOf(
  { id, url }: AccountClient,
  refreshToken: string,
): Promise<Answer> {
  const { tokenEndpoint } = await discover(url);
  const form = { grant_type: 'refresh_token', client_id: id, refresh_token: refreshToken };
  return postForm(tokenEndpoint, form);
}

/** Returns the tokens of an answer, which must have some. */
export function tokensOf(answer: Answer): AccountTokens {
  const { access_token: accessToken, refresh_token: refreshToken } = membersOf(answer);
  if (typeof accessToken !== 'string') throw new Error(answer.body);
  return { accessToken, refreshToken: String(refreshToken) };
}

/** Status of a call of the MCP server with an access token. */
export async function statusWith(url: string, accessToken: string): Promise<number> {
  return (await callMcp(url, accessToken, { jsonrpc: '2.0', id: 1, method: 'ping' })).status;
}

/** The page with only the form of this action, and for this value of one of its fields. */
export function formOf(page: BrowserPage, action: string, value?: string): BrowserPage {
  const forms = page.forms.filter(
    ({ fields }) =>
      fields['action'] === action && (value === undefined || Object.values(fields).includes(value)),
  );
  if (forms.length !== 1)
    throw new Error(`${String(forms.length)} forms of ${action}: ${page.body}`);
  return { ...page, forms };
}
