import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { loadOidcProvider } from '../../cli/demo/identity-provider/load-oidc-provider.ts';
import type { SignInProvider } from '../../proxy/identity-provider/require-identity-provider.ts';

import {
  CLIENT_ID,
  identityProviderConfiguration,
  INTERACTION,
  SCOPES,
  type ProviderFeatures,
} from './identity-provider-configuration.ts';
import { signInAtProvider } from './provider-sign-in.ts';
import { issuerKey, type IssuerKey } from './token-issuer.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Endpoints whose responses can be replaced. */
const ENDPOINTS = {
  discovery: '/.well-known/openid-configuration',
  token: '/token',
  userinfo: '/me',
  keys: '/jwks',
  introspection: '/token/introspection',
} as const;

type ProviderEndpoint = keyof typeof ENDPOINTS;

interface ProviderAnswer {
  readonly status: number;
  /** Sent as JSON; a text is sent unchanged, under the same name. */
  readonly body: unknown;
}

export interface IdentityProviderOptions extends ProviderFeatures {
  /** Redirect URIs; more can be added later. */
  readonly redirectUris?: readonly string[];
  /** The issuer, where something before it terminates TLS. Defaults to `http://127.0.0.1:PORT`. */
  readonly origin?: string;
}

/** A real OpenID provider on loopback whose users have no passwords. */
export interface TestIdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly port: number;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Its keys: the first, of RSA, signs its tokens, and the second is for ES256. */
  readonly keys: readonly [IssuerKey, IssuerKey];
  /** Claims by login name, which is the `sub`; can be changed at any time. A removed user is disabled. */
  readonly users: Map<string, Claims>;
  /** Adds redirect URIs, from now on. */
  readonly redirectUris: Set<string>;
  /** Responses of endpoints in place of the right ones. */
  readonly answers: Map<ProviderEndpoint, ProviderAnswer>;
  /** Parameters of every authorization request so far. */
  readonly authorizationRequests: URLSearchParams[];
  /** How often each path was requested. */
  readonly hits: Map<string, number>;
  /** How often tokens were requested. */
  tokenRequests(): number;
  /** Changes a token response before it is sent. */
  changeTokens: (response: Claims) => Claims;
  /** Holds requests to an endpoint until the returned function is called. */
  hold(endpoint: ProviderEndpoint): () => void;
  /** Makes an endpoint fail until `answers` is cleared. */
  fail(endpoint: ProviderEndpoint): void;
  /** Closes its port; `start` opens the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Settings for a gateway's configuration. */
  compiled(): SignInProvider;
}

const USERS: readonly (readonly [string, Claims])[] = [
  ['alice', person('Alice Adler', 'alice@example.com', ['engineering'])],
  ['bob', person('Bob Brandt', 'bob@example.com', ['sales'])],
  ['carol', person('Carol Costa', 'carol@example.com', ['admins'])],
];

function person(name: string, email: string, groups: readonly string[]): Claims {
  return { name, email, email_verified: true, groups };
}

/** Starts a provider on a free port, with alice in engineering, bob in sales and carol in admins. */
export async function startIdentityProvider(
  options: IdentityProviderOptions = {},
): Promise<TestIdentityProvider> {
  const server = createServer();
  const port = await listen(server, 0);
  const { origin: issuer = `http://127.0.0.1:${String(port)}` } = options;
  const clientSecret = randomBytes(24).toString('base64url');
  const keys = [await issuerKey('test', 'RS256'), await issuerKey('test-ec', 'ES256')] as const;
  const users = new Map(USERS);
  const redirectUris = new Set(options.redirectUris);
  const answers = new Map<ProviderEndpoint, ProviderAnswer>();
  const authorizationRequests: URLSearchParams[] = [];
  const hits = new Map<string, number>();

  const held = new Map<string, Promise<void>>();

  const { Provider } = await loadOidcProvider();
  const provider = new Provider(
    issuer,
    await identityProviderConfiguration(users, { clientSecret, keys }, options),
  );
  provider.proxy = options.origin !== undefined;
  const client = await provider.Client.find(CLIENT_ID);
  if (client === undefined) throw new Error('the provider knows its only client');
  client.redirectUriAllowed = (uri) => redirectUris.has(uri);

  provider.use(async (context, next) => {
    await next();
    // The provider's own responses have an object as the body.
    if (context.path === ENDPOINTS.token && context.status === 200) {
      context.body = provided.changeTokens(context.body as Claims);
    }
  });

  const protocol = provider.callback();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    hits.set(pathname, (hits.get(pathname) ?? 0) + 1);
    if (pathname === '/auth') authorizationRequests.push(searchParams);
    await held.get(pathname);
    const answer = answerFor(pathname, answers);
    if (answer !== undefined) send(response, answer);
    else if (pathname.startsWith(INTERACTION)) {
      signInAtProvider(provider, request, response).catch((error: unknown) => {
        send(response, { status: 400, body: { error: String(error) } });
      });
    } else await protocol(request, response);
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(request, response);
  });

  const provided: TestIdentityProvider = {
    issuer,
    port,
    clientId: CLIENT_ID,
    clientSecret,
    keys,
    users,
    redirectUris,
    answers,
    authorizationRequests,
    hits,
    tokenRequests: () => hits.get(ENDPOINTS.token) ?? 0,
    changeTokens: (response) => response,
    hold: (endpoint) => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      held.set(ENDPOINTS[endpoint], promise);
      return () => {
        held.delete(ENDPOINTS[endpoint]);
        resolve(undefined);
      };
    },
    fail: (endpoint) => void answers.set(endpoint, { status: 500, body: { error: 'broken' } }),
    stop: () => close(server),
    start: async () => {
      if (!server.listening) await listen(server, port);
    },
    compiled: () => ({
      kind: 'identity-provider',
      name: 'test',
      issuer,
      signIn: true,
      clientId: CLIENT_ID,
      clientSecret,
      scopes: SCOPES.split(' '),
      authorizationParams: {},
    }),
    [Symbol.asyncDispose]: () => close(server),
  };
  return provided;
}

function answerFor(
  path: string,
  answers: ReadonlyMap<ProviderEndpoint, ProviderAnswer>,
): ProviderAnswer | undefined {
  for (const [endpoint, answer] of answers) if (ENDPOINTS[endpoint] === path) return answer;
  return undefined;
}

function send(response: ServerResponse, { status, body }: ProviderAnswer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
