import { startGatewayWithUsers, type GatewayWithUsers } from './gateway-with-users.ts';
import { emptyResult } from './mcp-route.ts';
import { signInClient } from './signed-in-client.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Hosts with different numbers and kinds of routes in front of one upstream. */
export interface RoutesWorld extends AsyncDisposable {
  readonly gateway: GatewayWithUsers['gateway'];
  readonly upstream: Upstream;
  /** A host with one route, which serves every path. */
  readonly single: string;
  /** A host with several routes, chosen by the path. */
  readonly several: string;
  /** A host with an MCP route. */
  readonly mcp: string;
  /** A token for the MCP route. */
  readonly token: string;
  /** Counts the requests and handshakes that reach the upstream while something runs. */
  arrivalsDuring(run: () => Promise<unknown>): Promise<number>;
  /** Returns the request target that the upstream received last. */
  arrivedAt(): string | undefined;
}

/** Starts the gateway, and signs a client in at the MCP route. */
export async function startRoutesWorld(): Promise<RoutesWorld> {
  const upstream = await startUpstream((message, response) => {
    message.resume();
    emptyResult(message, response);
  });
  let upgrades = 0;
  upstream.server.on('upgrade', (_message, socket) => {
    upgrades += 1;
    socket.end('HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n');
  });
  const world = await startGatewayWithUsers();
  const [single, several] = [world.originOf('single'), world.originOf('several')];
  const mcp = world.originOf('mcp');
  const route = { to: upstream.origin, allowPublicUnauthenticatedAccess: true };
  await world.configure({
    single: { ...route, from: single, allowWebsockets: true },
    a: { ...route, from: several, prefix: '/a' },
    b: { ...route, from: several, prefix: '/b', to: `${upstream.origin}/other` },
    rest: { ...route, from: several },
    mcp: {
      ...{ from: mcp, to: upstream.origin, allowAnyAuthenticatedUser: true },
      mcp: { server: { subPaths: [{ path: '/.well-known/security.txt', inspected: false }] } },
    },
  });
  return {
    ...{ gateway: world.gateway, upstream, single, several, mcp },
    token: (await signInClient(mcp)).accessToken,
    async arrivalsDuring(run) {
      const before = upstream.requests.length + upgrades;
      await run();
      return upstream.requests.length + upgrades - before;
    },
    arrivedAt: () => upstream.requests.at(-1)?.message.url,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
