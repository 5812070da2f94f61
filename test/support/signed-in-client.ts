import { createHash, randomBytes } from 'node:crypto';

import { BrowserJar } from './browser-jar.ts';
import { fieldsOfPatientUser } from './patient-user.ts';
import { membersOf, send, type Answer, type RequestOptions } from './http-client.ts';

/** An authorization server that a client discovered. */
export interface FoundServer {
  /** The resource that the client requests a token for. */
  readonly resource: string;
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string;
  readonly revocationEndpoint: string;
}

/** An MCP client whose user has signed in and approved it. */
export interface SignedInClient {
  readonly server: FoundServer;
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** The user's browser, which is signed in. */
  readonly browser: BrowserJar;
}

interface SignInOptions {
  /** Login name at the identity provider. */
  readonly login?: string;
  readonly browser?: BrowserJar;
}

interface AuthorizeOfUser extends SignInOptions {
  readonly parameters?: Parameters;
  readonly decision?: 'approve' | 'deny';
}

type Parameters = Readonly<Record<string, string>>;

const REDIRECT_URI = 'http://127.0.0.1:1/callback';
const VERIFIER = randomBytes(32).toString('base64url');
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/**
 * Signs in like an MCP client that knows only a URL: from the challenge to the metadata (RFC 9728,
 * RFC 8414), to registration, the user's sign-in and consent, and a token.
 */
export async function signInClient(
  url: string,
  { login = 'alice', browser = new BrowserJar() }: SignInOptions = {},
): Promise<SignedInClient> {
  const server = await discover(url);
  const clientId = await register(server);
  const redirect = await authorize(server, clientId, { login, browser });
  const answer = await redeem(server, clientId, redirect.searchParams.get('code') ?? '');
  const { access_token: accessToken, refresh_token: refreshToken } = expectStatus(answer, 200);
  return {
    ...{ server, clientId, browser },
    accessToken: String(accessToken),
    refreshToken: String(refreshToken),
  };
}

/** Discovers the authorization server of an MCP URL from the challenge to a request without a token. */
export async function discover(url: string): Promise<FoundServer> {
  const { headers } = await send(url, { method: 'POST' });
  const metadataUrl = challengeParameters(headers['www-authenticate'])['resource_metadata'] ?? '';
  const resource = expectStatus(await send(metadataUrl), 200);
  const issuer = String([resource['authorization_servers']].flat()[0]);
  const server = expectStatus(await send(`${issuer}/.well-known/oauth-authorization-server`), 200);
  return {
    resource: String(resource['resource']),
    issuer: String(server['issuer']),
    authorizationEndpoint: String(server['authorization_endpoint']),
    tokenEndpoint: String(server['token_endpoint']),
    registrationEndpoint: String(server['registration_endpoint']),
    revocationEndpoint: String(server['revocation_endpoint']),
  };
}

/** Parameters of a `Bearer` challenge, whose values are quoted. */
export function challengeParameters(challenge = ''): Readonly<Record<string, string | undefined>> {
  if (!challenge.startsWith('Bearer ')) throw new Error(`not a Bearer challenge: ${challenge}`);
  const parameters = challenge.matchAll(/(\w+)="([^"]*)"/g);
  return Object.fromEntries([...parameters].map(([, name = '', value = '']) => [name, value]));
}

/** Registers a public client, and returns its id (RFC 7591). */
export async function register(
  { registrationEndpoint }: Pick<FoundServer, 'registrationEndpoint'>,
  redirectUri = REDIRECT_URI,
): Promise<string> {
  const metadata = {
    client_name: 'Test client',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  };
  const answer = await send(registrationEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  });
  return String(expectStatus(answer, 201)['client_id']);
}

/**
 * Takes a browser through an authorization request: the user signs in if necessary, and decides.
 * Returns the redirect to the client without following it.
 */
export async function authorize(
  { authorizationEndpoint, resource }: FoundServer,
  clientId: string,
  {
    login = 'alice',
    browser = new BrowserJar(),
    parameters = {},
    decision = 'approve',
  }: AuthorizeOfUser = {},
): Promise<URL> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: 'the-state',
    resource,
    ...parameters,
  });
  const stopAt = (url: string): boolean => url.startsWith(REDIRECT_URI);
  let page = await browser.open(`${authorizationEndpoint}?${query.toString()}`, { stopAt });
  // If the user is not signed in, the first form is the identity provider's; else it is the consent form.
  for (let forms = 0; page.forms.length > 0 && forms < 2; forms += 1) {
    const fields =
      'login' in (page.forms[0]?.fields ?? {})
        ? { login }
        : { ...fieldsOfPatientUser(page, browser), decision };
    page = await browser.submit(page, fields, { stopAt });
  }
  const { location = '' } = page.headers;
  if (!stopAt(location)) throw new Error(`not sent to the client: ${page.url} ${page.body}`);
  return new URL(location);
}

/** Redeems an authorization code (RFC 6749, section 4.1.3). */
export function redeem(
  { tokenEndpoint, resource }: Pick<FoundServer, 'tokenEndpoint' | 'resource'>,
  clientId: string,
  code: string,
): Promise<Answer> {
  return postForm(tokenEndpoint, {
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
    code,
    resource,
  });
}

/** Posts a JSON-RPC message to an MCP URL; a text is sent unchanged. */
export function callMcp(
  url: string,
  token: string,
  message: string | Buffer | object,
  headers: NonNullable<RequestOptions['headers']> = {},
): Promise<Answer> {
  const isWritten = typeof message === 'string' || Buffer.isBuffer(message);
  return send(url, {
    method: 'POST',
    headers: { ...mcpHeaders(token), ...headers },
    body: isWritten ? message : JSON.stringify(message),
  });
}

/** Header fields that an MCP client sends with every request. */
export function mcpHeaders(token: string): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
}

/** Posts a form to an endpoint of the authorization server. */
export function postForm(url: string, form: Parameters): Promise<Answer> {
  return send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  });
}

function expectStatus(answer: Answer, status: number): ReturnType<typeof membersOf> {
  if (answer.status === status) return membersOf(answer);
  throw new Error(`${String(answer.status)} instead of ${String(status)}: ${answer.body}`);
}
