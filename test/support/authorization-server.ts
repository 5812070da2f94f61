import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { Sealer } from '../../proxy/crypto/sealer.ts';
import { hashToken, randomToken } from '../../proxy/crypto/tokens.ts';
import { TokenRequiredError } from '../../proxy/errors/authentication-errors.ts';
import { RouteNotFoundError } from '../../proxy/errors/routing-errors.ts';
import { respondToError } from '../../proxy/pipeline/respond-to-error.ts';
import { sessionCookieName } from '../../proxy/http/cookies.ts';
import type { GatewayResponse } from '../../proxy/http/gateway-response.ts';
import type { GatewayRequest } from '../../proxy/http/gateway-request.ts';
import { json, seeOther } from '../../proxy/http/responses.ts';
import { sendResponse } from '../../proxy/http/send-response.ts';
import { SessionCookieAuthenticator } from '../../proxy/authentication/session-cookie-authenticator.ts';
import { ProviderDiscovery } from '../../proxy/identity/provider/provider-discovery.ts';
import { LiveSessions } from '../../proxy/identity/session/live-sessions.ts';
import type { Session } from '../../proxy/records/session.ts';
import { resourceIdentifier } from '../../proxy/configuration/resource-identifier.ts';
import { challengeFor } from '../../proxy/authorization-server/challenge.ts';
import { createClientKeysReader } from '../../proxy/authorization-server/clients/client-keys.ts';
import { createFindClient } from '../../proxy/authorization-server/clients/find-client.ts';
import { createMetadataDocumentReader } from '../../proxy/authorization-server/clients/metadata-document.ts';
import { ExternalTokenAuthenticator } from '../../proxy/authentication/external-token-authenticator.ts';
import { ExternalTokens } from '../../proxy/authentication/external-tokens.ts';
import { RefreshTokens } from '../../proxy/authorization-server/grants/refresh-tokens.ts';
import { createOAuthEndpoints } from '../../proxy/authorization-server/oauth-endpoints.ts';
import { OAUTH_WELL_KNOWNS } from '../../proxy/authorization-server/well-knowns.ts';
import type { GuardedFetch } from '../../proxy/outbound/guarded-fetch.ts';
import { serveEndpoint } from '../../proxy/endpoints/serve-endpoint.ts';
import { buildConfiguration } from './build-configuration.ts';
import type { Configuration } from '../../proxy/configuration/configuration.ts';
import { endpointFinder, type FindEndpoint } from '../../proxy/endpoints/find-endpoint.ts';
import { originOfHost } from '../../proxy/configuration/routing-table.ts';
import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import type { LogFields } from '../../shared/telemetry/logger.ts';
import { hashResource, snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type { CompiledRoute, CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import { compiledSettings } from './compiled-settings.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';
import { anOrigin } from './an-origin.ts';

/** Where a person is sent to sign in, in place of a real identity provider. */
export const SIGN_IN_URL = 'https://sign-in.example/';

const SIGN_IN_SECONDS = 14 * 3600;

/** Issuer of the routes that most tests use. */
export const ISSUER = 'https://mcp.example.com';
export const RESOURCE = `${ISSUER}/mcp`;

export const VERIFIER = 'a-verifier-of-more-than-43-characters-for-the-tests';
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

export const LOOPBACK_CALLBACK = 'http://127.0.0.1:3000/callback';
export const WEB_CALLBACK = 'https://client.example/callback';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

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

export interface ServerOptions {
  readonly settings?: Partial<CompiledSettings>;
  readonly routes?: readonly CompiledRoute[];
  /** Metadata documents by URL. */
  readonly documents?: Readonly<Record<string, unknown>>;
  /** In memory, by the server's clock, unless said otherwise. */
  readonly stores?: Stores;
}

/** The authorization server with real stores over real HTTP, and a protected resource behind it. */
export interface TestServer extends AsyncDisposable {
  readonly stores: Stores;
  readonly logged: readonly LogRecord[];
  readonly clock: { now: number };
  /** Replaces the documents of URL client IDs. */
  publish(documents: Readonly<Record<string, unknown>>): void;
  /** Sends a request to whatever origin of the gateway the URL names. */
  send(url: string, options?: SendOptions): Promise<Reply>;
  /** Signs a user in at an origin; returns the `Cookie` header. */
  signIn(origin?: string, session?: Partial<Session>): Promise<string>;
}

/** A route in front of an MCP server. */
export function aRoute(route: Partial<CompiledRoute> = {}): CompiledRoute {
  return aWebRoute({ mcpServer: { path: '', maxRequestBytes: 4096 }, ...route });
}

/** A route that is no MCP server. */
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
  settings: CompiledSettings = someSettings(),
): Configuration {
  const resources = [settings, ...routes].map((resource) =>
    hashResource(resource.kind === 'route' ? `route/${resource.name}` : 'settings', resource),
  );
  return buildConfiguration(snapshotOf(resources));
}

/** Starts one. Its clock stands still until a test moves it. */
export async function startAuthorizationServer({
  settings,
  routes = [aRoute()],
  documents = {},
  stores: givenStores,
}: ServerOptions = {}): Promise<TestServer> {
  const configuration = configurationOf(routes, someSettings(settings));
  const clock = { now: Date.now() };
  const now = (): number => clock.now;
  const stores = givenStores ?? createMemoryStores(now);
  const logged: LogRecord[] = [];
  const log = (message: string, fields?: LogFields): void => void logged.push({ message, fields });
  const sealer = new Sealer([{ secret: Buffer.alloc(32) }]);
  const externalTokens = new ExternalTokens(sealer);
  const refreshTokens = new RefreshTokens(sealer);
  const published = { documents };
  const guardedFetch: GuardedFetch = (url) => {
    const document = published.documents[url];
    return Promise.resolve({
      status: document === undefined ? 404 : 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(document ?? {})),
    });
  };
  const browsers = new SessionCookieAuthenticator({ stores, now, outageGraceSeconds: () => 0 });
  const logger = { info: log, warn: log, error: log };
  const discovery = new ProviderDiscovery({ devAllowLoopback: false, now });
  const renewal = new LiveSessions({ stores, discovery, logger, now });
  const endpoints = createOAuthEndpoints({
    stores,
    externalTokens,
    refreshTokens,
    sessionOf: (signInId, current) => renewal.sessionOf(signInId, current),
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
    redirectToSignIn: ({ origin }, returnPath) =>
      seeOther(`${SIGN_IN_URL}?${new URLSearchParams({ to: origin + returnPath }).toString()}`),
  });
  const authenticator = new ExternalTokenAuthenticator({
    externalTokens,
    stores,
    outageGraceSeconds: () => 0,
    now,
  });
  const findEndpoint = endpointFinder(endpoints, OAUTH_WELL_KNOWNS);
  const gateway = { configuration, findEndpoint, authenticator };
  const server = createServer((message, response) => void serve(message, response, gateway));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is one.
  const { port } = server.address() as AddressInfo;
  return {
    stores,
    logged,
    clock,
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
      return `${sessionCookieName(browserSession.origin)}=${value}`;
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

export function aSession(now: number): Session {
  return {
    id: randomToken(),
    signInId: randomToken(),
    identity: {
      provider: 'example',
      subject: 'alice',
      email: 'alice@example.com',
      groups: [],
      claims: {},
    },
    createdAt: now,
    expiresAt: now + 14 * 3600 * 1000,
  };
}

interface ServedGateway {
  readonly configuration: Configuration;
  readonly findEndpoint: FindEndpoint;
  readonly authenticator: ExternalTokenAuthenticator;
}

/** Endpoints as the gateway serves them; everything else answers who called, or challenges. */
async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  gateway: ServedGateway,
): Promise<void> {
  const { configuration, findEndpoint } = gateway;
  const request = parse(message);
  const endpoint = findEndpoint(configuration.routes.findHost(request.authority), request.path);
  try {
    const origin = originOf(request, configuration);
    const at = { origin, configuration };
    const answer = endpoint
      ? await serveEndpoint(endpoint, request, at)
      : await serveResource(request, origin, gateway);
    sendResponse(response, answer, request.id);
  } catch (error) {
    const answer = respondToError(error, {
      requestId: request.id,
      audience: endpoint?.audience ?? 'json-rpc',
      messageId: null,
      challenge: (tokenWasSent) =>
        challengeFor(originOf(request, configuration), request.path, tokenWasSent),
      usedBasic: /^basic /i.test(message.headers.authorization ?? ''),
    });
    sendResponse(response, answer, request.id);
  }
}

function parse(message: IncomingMessage): GatewayRequest {
  const target = message.url ?? '/';
  const mark = target.indexOf('?');
  return {
    id: randomUUID(),
    method: message.method ?? 'GET',
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark),
    authority: (message.headers.host ?? '').toLowerCase(),
    remoteAddress: message.socket.remoteAddress ?? '',
    message,
  };
}

function originOf({ authority }: GatewayRequest, { routes, settings }: Configuration): Origin {
  const host = routes.findHost(authority);
  if (host !== undefined) return originOfHost(host, authority);
  const { authenticateOrigin } = settings;
  if (authenticateOrigin?.endsWith(`//${authority}`) === true) return authenticateOrigin;
  throw new RouteNotFoundError(421, 'no such host');
}

async function serveResource(
  { message, authority, path }: GatewayRequest,
  origin: Origin,
  { configuration, authenticator }: ServedGateway,
): Promise<GatewayResponse> {
  const route = configuration.routes.findHost(authority)?.matchPath(path);
  if (route === undefined) throw new RouteNotFoundError(404, 'no such path');
  const token = /^Bearer (.+)$/.exec(message.headers.authorization ?? '')?.[1];
  if (token === undefined) throw new TokenRequiredError('no token', { tokenWasSent: false });
  const resource = resourceIdentifier(route.compiled, origin);
  const { gatewayId } = configuration.settings;
  const caller = await authenticator.callerOf(token, { resource, gatewayId });
  return json(200, { user: caller.kind === 'user' ? caller.session.identity.subject : null });
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
    // As written: a URL parser would resolve dot segments and hide what a client can send.
    path: url.slice(origin.length) || '/',
    method: method ?? (content === undefined ? 'GET' : 'POST'),
    headers: {
      host,
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
  });
  request.end(content);
  // `response` is emitted with the response.
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { statusCode: status = 0 } = response;
  return { status, headers: response.headers, body: await text(response) };
}
