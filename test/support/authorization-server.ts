import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { ConnectLinks } from '../../proxy/connect/connect-links.ts';
import { Sealer } from '../../proxy/crypto/sealer.ts';
import { hashToken, randomToken } from '../../proxy/crypto/tokens.ts';
import { sessionCookieName } from '../../proxy/http/cookies.ts';
import { seeOther } from '../../proxy/http/responses.ts';
import { SessionCookieAuthenticator } from '../../proxy/authentication/session-cookie-authenticator.ts';
import { ProviderDiscovery } from '../../proxy/identity-provider/provider-discovery.ts';
import { LiveSessions } from '../../proxy/identity/session/live-sessions.ts';
import type { Session } from '../../proxy/records/session.ts';
import { createClientKeysReader } from '../../proxy/authorization-server/clients/client-keys.ts';
import { createFindClient } from '../../proxy/authorization-server/clients/find-client.ts';
import { createMetadataDocumentReader } from '../../proxy/authorization-server/clients/metadata-document.ts';
import { ExternalTokenAuthenticator } from '../../proxy/authentication/external-token-authenticator.ts';
import { ExternalTokens } from '../../proxy/authentication/external-tokens.ts';
import { RefreshTokens } from '../../proxy/authorization-server/grants/refresh-tokens.ts';
import { AuditLog } from '../../proxy/telemetry/audit-log.ts';
import { createOAuthEndpoints } from '../../proxy/authorization-server/oauth-endpoints.ts';
import { OAUTH_WELL_KNOWNS } from '../../proxy/authorization-server/well-knowns.ts';
import type { GuardedFetch } from '../../proxy/outbound/guarded-fetch.ts';
import { buildConfiguration } from './build-configuration.ts';
import type { Configuration } from '../../proxy/configuration/configuration.ts';
import { endpointFinder } from '../../proxy/endpoints/find-endpoint.ts';
import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import type { LogFields } from '../../shared/telemetry/logger.ts';
import type { CompiledRoute, CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import { AN_IDENTITY_PROVIDER, aSnapshot } from './compiled-resources.ts';
import { compiledSettings } from './compiled-settings.ts';
import { anOrigin } from './an-origin.ts';
import { NO_APPLICATIONS } from './no-applications.ts';
import { serveGateway } from './serve-gateway.ts';

/** URL that users are redirected to for sign-in, in place of a real identity provider. */
export const SIGN_IN_URL = 'https://sign-in.example/';

const SIGN_IN_SECONDS = 14 * 3600;

/** Issuer of the routes that most tests use. */
export const ISSUER = 'https://mcp.example.com';
/** Resource identifier of `aRoute`. */
export const RESOURCE = `${ISSUER}/mcp`;

/** PKCE code verifier of the tests. */
export const VERIFIER = 'a-verifier-of-more-than-43-characters-for-the-tests';
/** PKCE code challenge for `VERIFIER`. */
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** Redirect URI of a native client. */
export const LOOPBACK_CALLBACK = 'http://127.0.0.1:3000/callback';
/** Redirect URI of a web client. */
export const WEB_CALLBACK = 'https://client.example/callback';

/** A whole response. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The parts of a request besides its URL. */
export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>> | URLSearchParams;
  readonly body?: string;
}

interface LogRecord {
  readonly message: string;
  readonly fields: LogFields | undefined;
}

/** Options of an authorization server. */
export interface ServerOptions {
  readonly settings?: Partial<CompiledSettings>;
  readonly routes?: readonly CompiledRoute[];
  /** Metadata documents by URL. */
  readonly documents?: Readonly<Record<string, unknown>>;
  /** Defaults to memory, with the server's clock. */
  readonly stores?: Stores;
  /** Issuer of the identity provider. */
  readonly identityIssuer?: string;
}

/** The authorization server with real stores over real HTTP, and a protected resource behind it. */
export interface TestServer extends AsyncDisposable {
  readonly stores: Stores;
  readonly logged: readonly LogRecord[];
  readonly clock: { now: number };
  /** Says whether a user has connected the upstream of a route. A test may replace it. */
  readonly connections: { isConnected: () => Promise<boolean> };
  /** Replaces the documents of URL client IDs. */
  publish(documents: Readonly<Record<string, unknown>>): void;
  /** Sends a request to the gateway, for the origin in the URL. */
  send(url: string, options?: SendOptions): Promise<Reply>;
  /** Signs a user in at an origin; returns the `Cookie` header. */
  signIn(origin?: string, session?: Partial<Session>): Promise<string>;
}

/** A route in front of an MCP server. */
export function aRoute(route: Partial<CompiledRoute> = {}): CompiledRoute {
  return aWebRoute({ mcpServer: { path: '', maxRequestBytes: 4096 }, ...route });
}

/** A route without an MCP server. */
export function aWebRoute(route: Partial<CompiledRoute> = {}): CompiledRoute {
  return {
    kind: 'route',
    name: `default/${randomUUID()}`,
    scheme: 'https',
    host: 'mcp.example.com',
    port: 443,
    path: { kind: 'prefix', value: '/mcp' },
    upstream: 'http://127.0.0.1:1',
    access: { kind: 'policy', policy: { allow: { and: [{ kind: 'accept' }] } } },
    allowWebsockets: false,
    responseTimeoutMs: 0,
    ...route,
  };
}

function someSettings(settings: Partial<CompiledSettings> = {}): CompiledSettings {
  return compiledSettings({
    gatewayId: 'gatehouse/test',
    allowedClientIdDomains: ['*.clients.example'],
    ...settings,
  });
}

function configurationOf(
  routes: readonly CompiledRoute[],
  settings: CompiledSettings,
  issuer: string,
): Configuration {
  const provider = { ...AN_IDENTITY_PROVIDER, name: 'example', issuer };
  return buildConfiguration(aSnapshot(settings, provider, ...routes));
}

/**
 * Starts an authorization server, whose clock stands still until a test moves it.
 *
 * It is not a whole gateway, so that a test can save a session at a provider that does not exist, and
 * publish metadata documents without a web server.
 */
export async function startAuthorizationServer({
  settings,
  routes = [aRoute()],
  documents = {},
  stores: givenStores,
  identityIssuer = SIGN_IN_URL,
}: ServerOptions = {}): Promise<TestServer> {
  const configuration = configurationOf(routes, someSettings(settings), identityIssuer);
  const clock = { now: Date.now() };
  const now = (): number => clock.now;
  const stores = givenStores ?? createMemoryStores(now);
  const logged: LogRecord[] = [];
  const log = (message: string, fields?: LogFields): void => void logged.push({ message, fields });
  const sealer = new Sealer([{ secret: Buffer.alloc(32) }]);
  const externalTokens = new ExternalTokens(sealer);
  const refreshTokens = new RefreshTokens(sealer);
  const connections = { isConnected: () => Promise.resolve(true) };
  const published = { documents };
  const guardedFetch: GuardedFetch = (url) => {
    const document = published.documents[url];
    return Promise.resolve({
      status: document === undefined ? 404 : 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(document ?? {})),
    });
  };
  const checks = { stores, now, isOfProvider: () => true, outageGraceSeconds: () => 0 };
  const browsers = new SessionCookieAuthenticator(checks);
  const logger = { info: log, warn: log, error: log };
  const audit = new AuditLog(logger);
  const discovery = new ProviderDiscovery({ devAllowLoopback: false, now });
  const renewal = new LiveSessions({ stores, discovery, audit, logger, now });
  const endpoints = createOAuthEndpoints({
    stores,
    externalTokens,
    refreshTokens,
    sessionOf: (signInId, current) => renewal.sessionOf(signInId, current),
    audit,
    logger,
    now,
    findClient: createFindClient({
      clients: stores.clients,
      readMetadataDocument: createMetadataDocumentReader({
        guardedFetch,
        devAllowLoopback: false,
        now,
      }),
    }),
    readClientKeys: createClientKeysReader({ guardedFetch, now }),
    sessionCookies: browsers,
    connectLinks: new ConnectLinks({ sealer, now }),
    internalTokens: { isConnected: () => connections.isConnected() },
    redirectToSignIn: ({ origin }, { returnPath }) =>
      seeOther(`${SIGN_IN_URL}?${new URLSearchParams({ to: origin + returnPath }).toString()}`),
  });
  const authenticator = new ExternalTokenAuthenticator({
    ...{ ...checks, externalTokens, applications: NO_APPLICATIONS },
  });
  const findEndpoint = endpointFinder(endpoints, OAUTH_WELL_KNOWNS);
  const gateway = { configuration, findEndpoint, authenticator };
  const server = createServer((message, response) => void serveGateway(message, response, gateway));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this type.
  const { port } = server.address() as AddressInfo;
  return {
    stores,
    logged,
    clock,
    connections,
    publish: (replacement) => void (published.documents = replacement),
    send: (url, options) => send(port, url, options),
    signIn: async (origin = ISSUER, session = {}) => {
      const value = randomToken();
      const signedIn = { ...aSession(clock.now), ...session };
      const { id: sessionId, signInId: id, identity } = signedIn;
      const provider = { name: identity.provider, issuer: SIGN_IN_URL, clientId: 'gatehouse' };
      await stores.signIns.create({ id, provider, identity, sessionId }, SIGN_IN_SECONDS);
      await stores.sessions.create(signedIn);
      const browserSession = { sessionId: signedIn.id, origin: anOrigin(origin) };
      await stores.browserSessions.save(hashToken(value), browserSession, signedIn.expiresAt);
      const signInProvider = { signIn: true, name: identity.provider };
      return `${sessionCookieName(browserSession.origin, signInProvider)}=${value}`;
    },
    [Symbol.asyncDispose]: async () => {
      browsers[Symbol.dispose]();
      authenticator[Symbol.dispose]();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** A session of alice that begins now. */
export function aSession(now: number): Session {
  return {
    id: randomToken(),
    signInId: randomToken(),
    identity: {
      provider: 'example',
      issuer: SIGN_IN_URL,
      subject: 'alice',
      email: 'alice@example.com',
      groups: [],
      claims: {},
    },
    createdAt: now,
    expiresAt: now + 14 * 3600 * 1000,
  };
}

async function send(
  port: number,
  url: string,
  { method, headers = {}, form, body }: SendOptions = {},
): Promise<Reply> {
  const { host, origin } = new URL(url);
  const content = form === undefined ? body : new URLSearchParams(form).toString();
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    // Not parsed: a URL parser would resolve dot segments, which a client can send.
    path: url.slice(origin.length) || '/',
    method: method ?? (content === undefined ? 'GET' : 'POST'),
    headers: {
      host,
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
  });
  request.end(content);
  // Node emits `response` with the message as its only argument.
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { statusCode: status = 0 } = response;
  return { status, headers: response.headers, body: await text(response) };
}
