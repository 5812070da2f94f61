import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Sealer } from '../../proxy/crypto/sealer.ts';
import { respondToError } from '../../proxy/pipeline/respond-to-error.ts';
import { readCookie, readCookies, sessionCookieName } from '../../proxy/http/cookies.ts';
import type { EndpointContext } from '../../proxy/endpoints/endpoint.ts';
import type { GatewayResponse } from '../../proxy/http/gateway-response.ts';
import type { GatewayRequest } from '../../proxy/http/gateway-request.ts';
import { json } from '../../proxy/http/responses.ts';
import { sendResponse } from '../../proxy/http/send-response.ts';
import {
  createIdentityEndpoints,
  type IdentityEndpoints,
} from '../../proxy/identity/identity-endpoints.ts';
import { generateSigningKeys } from '../../proxy/identity/assertion/signing-keys.ts';
import { matchHost } from '../../proxy/pipeline/match-host.ts';
import { serveEndpoint } from '../../proxy/endpoints/serve-endpoint.ts';
import { buildConfiguration } from '../../proxy/configuration/build-configuration.ts';
import type { Configuration } from '../../proxy/configuration/configuration.ts';
import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { hashResource, snapshotOf } from '../../shared/snapshot/hash-resource.ts';
import type {
  CompiledIdentityProvider,
  CompiledRoute,
  CompiledSigningKeys,
  SameSite,
} from '../../shared/snapshot/snapshot.ts';
import { compiledSettings } from './compiled-settings.ts';
import { anOrigin } from './an-origin.ts';

interface SignInSettings {
  /** Origins of the routes; every path of theirs asks for a session. */
  readonly routes: readonly string[];
  readonly authenticateOrigin?: string;
  readonly sameSite?: SameSite;
  readonly sessionSeconds?: number;
  readonly identityProvider?: CompiledIdentityProvider;
}

/** What a route of the harness answers to a user who is signed in. */
export interface RouteAnswer {
  readonly user: string;
  readonly email: string | null;
  readonly groups: readonly string[];
  readonly url: string;
}

/** Sign-in over HTTP, without the rest of the gateway. */
export interface SignInHarness extends AsyncDisposable {
  readonly port: number;
  readonly stores: Stores;
  readonly identity: IdentityEndpoints;
  readonly signingKeys: CompiledSigningKeys;
  /** What requests failed with, in order. */
  readonly failures: readonly unknown[];
  /** Origin of a name under `localhost` on the harness's port. */
  originOf(name: string): string;
  configure(settings: SignInSettings): void;
  /** Moves the gateway's clock, and nobody else's. */
  advance(milliseconds: number): void;
}

export interface SignInHarnessOptions {
  readonly devAllowLoopback?: boolean;
  /** Puts something between the gateway and its stores. */
  readonly wrapStores?: (stores: Stores) => Stores;
}

const HOUR_SECONDS = 3600;

/** Starts one on a free port. Configure it before the first request. */
export async function startSignInHarness({
  devAllowLoopback = true,
  wrapStores = (stores) => stores,
}: SignInHarnessOptions = {}): Promise<SignInHarness> {
  let offset = 0;
  let configuration: Configuration | undefined;
  const now = (): number => Date.now() + offset;
  const stores = wrapStores(createMemoryStores(now));
  const sealer = new Sealer([{ secret: randomBytes(32) }]);
  const signingKeys = generateSigningKeys();
  const identity = createIdentityEndpoints({
    stores,
    sealer,
    logger: SILENT,
    devAllowLoopback,
    defaultSigningKeys: signingKeys,
    outageGraceSeconds: () => 0,
    now,
  });
  const failures: unknown[] = [];
  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = parse(message);
    const answer = await answerTo(request, configuration, identity).catch((error: unknown) => {
      failures.push(error);
      return failurePage(error, request);
    });
    sendResponse(response, answer, request.id);
  };
  const server = createServer((message, response) => void serve(message, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is one.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    stores,
    identity,
    signingKeys,
    failures,
    originOf: (name) => `http://${name}.localhost:${String(port)}`,
    configure: (settings) => {
      configuration = compile(settings);
    },
    advance: (milliseconds) => {
      offset += milliseconds;
    },
    [Symbol.asyncDispose]: async () => {
      identity[Symbol.dispose]();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const SILENT: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

function parse(message: IncomingMessage): GatewayRequest {
  const [path = '/', ...query] = (message.url ?? '/').split(/(?=\?)/);
  return {
    id: randomUUID(),
    method: message.method ?? 'GET',
    path,
    query: query.join(''),
    authority: message.headers.host ?? '',
    remoteAddress: message.socket.remoteAddress ?? '',
    message,
  };
}

async function answerTo(
  request: GatewayRequest,
  configuration: Configuration | undefined,
  identity: IdentityEndpoints,
): Promise<GatewayResponse> {
  if (configuration === undefined) throw new Error('the harness is not configured');
  const { origin } = matchHost(configuration, request);
  const endpoint = identity.endpoints[request.path];
  if (endpoint !== undefined) return serveEndpoint(endpoint, request, { origin, configuration });
  const cookies = readCookies(request.message);
  return serveRoute({ request, configuration, origin, cookies }, identity);
}

async function serveRoute(
  context: EndpointContext,
  { sessionCookies: browsers, redirectToSignIn }: IdentityEndpoints,
): Promise<GatewayResponse> {
  const { request, origin } = context;
  const cookie = readCookie(request.message, sessionCookieName(origin));
  const caller = cookie === undefined ? null : await browsers.callerOf(cookie, origin);
  const url = request.path + request.query;
  if (caller?.kind !== 'user') return redirectToSignIn(context, url);
  const { subject, email = null, groups } = caller.session.identity;
  const answer: RouteAnswer = { user: subject, email, groups, url: origin + url };
  return json(200, answer);
}

function failurePage(error: unknown, { id }: GatewayRequest): GatewayResponse {
  return respondToError(error, {
    requestId: id,
    audience: 'page',
    messageId: null,
    challenge: undefined,
    usedBasic: false,
  });
}

function compile({
  routes,
  authenticateOrigin,
  sameSite = 'Lax',
  sessionSeconds = 14 * HOUR_SECONDS,
  identityProvider,
}: SignInSettings): Configuration {
  const settings = compiledSettings({
    ...(authenticateOrigin === undefined
      ? {}
      : { authenticateOrigin: anOrigin(authenticateOrigin) }),
    cookie: { expirationSeconds: sessionSeconds, sameSite },
  });
  const provider =
    identityProvider === undefined
      ? []
      : [hashResource('identity-provider/test', identityProvider)];
  const compiledRoutes = routes.map((origin) =>
    hashResource(`route/test/${origin}`, routeAt(origin)),
  );
  return buildConfiguration(
    snapshotOf([hashResource('settings', settings), ...provider, ...compiledRoutes]),
  );
}

function routeAt(origin: string): CompiledRoute {
  // `*` is no part of a URL's host, so a wildcard stands in as a name.
  const { protocol, hostname, port } = new URL(origin.replace('*.', 'wildcard--.'));
  const scheme = protocol === 'https:' ? 'https' : 'http';
  return {
    kind: 'route',
    name: `test/${origin}`,
    scheme,
    host: hostname.replace('wildcard--.', '*.'),
    port: port === '' ? { http: 80, https: 443 }[scheme] : Number(port),
    path: { kind: 'prefix', value: '' },
    upstream: 'http://127.0.0.1:1',
    access: { kind: 'policy', policy: { allow: { and: [{ kind: 'authenticated_user' }] } } },
    allowWebsockets: false,
    responseTimeoutMs: 0,
  };
}
