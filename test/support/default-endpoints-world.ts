import { startGatewayWithUsers } from './gateway-with-users.ts';
import { emptyResult } from './mcp-route.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** Hosts with MCP routes, on some of which other Routes own `/authorize`, `/token` and `/register`. */
export interface DefaultEndpointsWorld extends AsyncDisposable {
  /** The MCP server behind every MCP route. */
  readonly upstream: Upstream;
  /** URLs of MCP routes. */
  readonly urls: {
    /** The only route of its host, without a path. */
    readonly root: string;
    /** The only route of its host, at `/mcp`. */
    readonly below: string;
    /** On one host with `mail`. */
    readonly files: string;
    readonly mail: string;
    readonly mcpAtToken: string;
    /** The only route of its host, with the sub-path `/token`. */
    readonly subPath: string;
  };
  /** Origins where public web routes own the paths in different ways; each also has an MCP route. */
  readonly hosts: {
    readonly paths: string;
    readonly prefixes: string;
    readonly expressions: string;
    readonly catchAll: string;
    /** A web route at `/Token`. */
    readonly otherCase: string;
    /** No MCP route, and a web route elsewhere. */
    readonly web: string;
  };
}

const SERVER = { mcp: { server: {} }, allowAnyAuthenticatedUser: true };

/** Starts the gateway with all routes. The web upstream answers with `web` and the path. */
export async function startDefaultEndpointsWorld(): Promise<DefaultEndpointsWorld> {
  const upstream = await startUpstream((message, response) => {
    message.resume();
    emptyResult(message, response);
  });
  const web = await startUpstream((message, response) => {
    message.resume();
    response.end(`web ${message.url ?? ''}`);
  });
  const world = await startGatewayWithUsers();
  const mcp = (from: string) => ({ ...SERVER, from, to: upstream.origin });
  const open = (from: string) => ({ from, to: web.origin, allowPublicUnauthenticatedAccess: true });
  const root = world.originOf('root');
  const below = world.originOf('below');
  const several = world.originOf('several');
  const hosts = {
    paths: world.originOf('paths'),
    prefixes: world.originOf('prefixes'),
    expressions: world.originOf('expressions'),
    catchAll: world.originOf('catch-all'),
    otherCase: world.originOf('other-case'),
    web: world.originOf('web'),
  };
  const mcpAtToken = world.originOf('mcp-at-token');
  const subPath = world.originOf('sub-path');
  await world.configure({
    root: mcp(root),
    below: { ...mcp(below), prefix: '/mcp' },
    files: { ...mcp(several), prefix: '/files' },
    mail: { ...mcp(several), prefix: '/mail' },
    'mcp-at-token': { ...mcp(mcpAtToken), prefix: '/token' },
    'sub-path': { ...mcp(subPath), mcp: { server: { subPaths: [{ path: '/token' }] } } },
    'paths-mcp': mcp(hosts.paths),
    'paths-authorize': { ...open(hosts.paths), path: '/authorize', to: `${web.origin}/authorize` },
    'paths-token': { ...open(hosts.paths), path: '/token', to: `${web.origin}/token` },
    'paths-register': { ...open(hosts.paths), path: '/register', to: `${web.origin}/register` },
    'prefixes-mcp': { ...mcp(hosts.prefixes), prefix: '/mcp' },
    'prefixes-authorize': {
      ...open(hosts.prefixes),
      prefix: '/authorize',
      to: `${web.origin}/authorize`,
    },
    'prefixes-token': { ...open(hosts.prefixes), prefix: '/token', to: `${web.origin}/token` },
    'prefixes-register': {
      ...open(hosts.prefixes),
      prefix: '/register',
      to: `${web.origin}/register`,
    },
    'expressions-mcp': mcp(hosts.expressions),
    'expressions-web': { ...open(hosts.expressions), regex: '/(authorize|token|register)' },
    'catch-all-mcp': { ...mcp(hosts.catchAll), prefix: '/mcp' },
    'catch-all-web': open(hosts.catchAll),
    'other-case-mcp': mcp(hosts.otherCase),
    'other-case-web': { ...open(hosts.otherCase), path: '/Token' },
    web: { ...open(hosts.web), prefix: '/app' },
  });
  return {
    upstream,
    urls: {
      ...{ root, below: `${below}/mcp`, files: `${several}/files`, mail: `${several}/mail` },
      mcpAtToken: `${mcpAtToken}/token`,
      subPath,
    },
    hosts,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      await web[Symbol.asyncDispose]();
    },
  };
}
