import { expect } from '@jest/globals';

import type { BrowserJar } from './browser-jar.ts';
import { startGatewayWithUsers } from './gateway-with-users.ts';
import { send, type Answer, type RequestOptions } from './http-client.ts';
import { emptyResult } from './mcp-route.ts';
import { callMcp, signInClient, type SignedInClient } from './signed-in-client.ts';
import { startUpstream, type ReceivedRequest, type Upstream } from './upstream.ts';

type Headers = NonNullable<RequestOptions['headers']>;

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** A kind of route, and a request that it permits. */
export interface KindOfRoute {
  readonly name: string;
  readonly origin: (world: KindsOfRouteWorld) => string;
  readonly request: (world: KindsOfRouteWorld, headers: Headers) => Promise<Answer>;
}

/** A route that asks for a bearer token. */
export const MCP: KindOfRoute = {
  name: 'an MCP route',
  origin: ({ mcp }) => mcp,
  request: ({ mcp, client }, headers) => callMcp(mcp, client.accessToken, PING, headers),
};

/** A route that asks for a session. */
export const WEB: KindOfRoute = {
  name: 'a web route',
  origin: ({ web }) => web,
  request: ({ web, client }, { cookie, ...headers }) => {
    const session = gatewayCookies(client.browser, web);
    const cookies = cookie === undefined ? session : `${String(cookie)}; ${session}`;
    return send(web, { headers: { cookie: cookies, ...headers } });
  },
};

/** A route that asks for nothing. */
export const PUBLIC: KindOfRoute = {
  name: 'a public route',
  origin: ({ open }) => open,
  request: ({ open }, headers) => send(open, { headers }),
};

/** A route of each kind in front of one upstream, and a user who is signed in at all of them. */
export interface KindsOfRouteWorld extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly mcp: string;
  readonly web: string;
  readonly open: string;
  readonly client: SignedInClient;
  /** Issuer of the identity provider of all users. */
  readonly identityIssuer: string;
}

/** Starts the gateway; the upstream sets a cookie of its own, and tries to set the gateway's. */
export async function startKindsOfRoute(): Promise<KindsOfRouteWorld> {
  const upstream = await startUpstream((message, response) => {
    message.resume();
    response.setHeader('set-cookie', [
      'own=1; Path=/',
      `gatehouse-${String(world.gateway.port)}=planted; Path=/`,
      '__Host-gatehouse=planted; Path=/; Secure',
      'gatehouse-sign-in-1-x=planted',
    ]);
    emptyResult(message, response);
  });
  const world = await startGatewayWithUsers();
  const [mcp, web, open] = [world.originOf('mcp'), world.originOf('web'), world.originOf('open')];
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  await world.configure({
    mcp: { ...route, from: mcp, mcp: { server: {} } },
    web: { ...route, from: web },
    open: { from: open, to: upstream.origin, allowPublicUnauthenticatedAccess: true },
  });
  const client = await signInClient(mcp);
  await client.browser.open(web);
  return {
    ...{ upstream, mcp, web, open, client },
    identityIssuer: world.identityProvider.issuer,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** The `Cookie` header with the gateway's cookies of a browser at an origin. */
export function gatewayCookies(browser: BrowserJar, origin: string): string {
  return browser.cookies
    .filter(({ host, name }) => host === new URL(origin).hostname && name !== 'own')
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ');
}

/** Sends a request, and returns it as the upstream received it. */
export async function receivedFrom(
  kind: KindOfRoute,
  world: KindsOfRouteWorld,
  headers: Headers = {},
): Promise<ReceivedRequest> {
  const index = world.upstream.requests.length;
  const answer = await kind.request(world, headers);
  expect(answer.status).toBe(200);
  return world.upstream.request(index);
}

/** Values of a header field, in any spelling of its name. */
export function valuesOf({ headers }: ReceivedRequest, name: string): readonly string[] {
  return headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);
}
