import { criteriaOf } from '../../shared/snapshot/policy.ts';
import type { CompiledRoute, PathMatch, Snapshot } from '../../shared/snapshot/snapshot.ts';
import { loosePath } from '../http/loose-path.ts';
import { originOf } from '../mcp/resource-identifier.ts';
import { compilePolicy } from '../policy/compile-policy.ts';
import type { CompiledPolicy } from '../policy/decision.ts';

/** A route ready to serve. */
export interface GatewayRoute {
  readonly compiled: CompiledRoute;
  /** Absent on public routes. */
  readonly policy: CompiledPolicy | undefined;
}

/** All routes of one `from` host and port. */
export interface RouteHost {
  /** Host as in `from`; `*.example.com` for a wildcard. */
  readonly host: string;
  readonly scheme: 'http' | 'https';
  readonly port: number;
  readonly mcpServers: readonly GatewayRoute[];
  /**
   * The path decides who may do what here: there are several routes, a regular expression, or a
   * policy that asks for the path.
   * A path that the upstream could read differently must then be refused.
   */
  readonly isPathSensitive: boolean;
  /** Exact path, then the longest prefix, then regular expressions by name, then the catch-all. */
  matchPath(path: string): GatewayRoute | undefined;
  /**
   * The route that owns a path for a server that ignores case, encoding, path parameters and a slash
   * at the end. Another one than `matchPath` has: the path can be read in two ways.
   */
  matchPathLoosely(path: string): GatewayRoute | undefined;
}

/** Finds what serves a request, at a cost that does not grow with the number of hosts. */
export interface RoutingTable {
  /** By `Host` header: exact name, then the longest wildcard. A missing port is the scheme's. */
  findHost(authority: string): RouteHost | undefined;
  readonly hosts: readonly RouteHost[];
}

/** Indexes the routes of a snapshot. */
export function buildRoutingTable(snapshot: Snapshot): RoutingTable {
  const byHost = new Map<string, GatewayRoute[]>();
  for (const { value } of snapshot.resources.values()) {
    if (value.kind !== 'route') continue;
    const key = `${value.host}:${String(value.port)}`;
    const routes = byHost.get(key) ?? [];
    routes.push(gatewayRoute(value));
    byHost.set(key, routes);
  }
  const hosts = new Map([...byHost].map(([key, routes]) => [key, routeHost(routes)]));
  return {
    hosts: [...hosts.values()],
    findHost: (authority) => findHost(hosts, authority),
  };
}

function gatewayRoute(compiled: CompiledRoute): GatewayRoute {
  const { access } = compiled;
  return {
    compiled,
    policy: access.kind === 'policy' ? compilePolicy(access.policy) : undefined,
  };
}

function findHost(hosts: ReadonlyMap<string, RouteHost>, authority: string): RouteHost | undefined {
  const colon = authority.lastIndexOf(':');
  const hasPort = colon !== -1 && !authority.endsWith(']');
  if (hasPort) return findName(hosts, authority.slice(0, colon), authority.slice(colon));
  return findName(hosts, authority, ':443') ?? findName(hosts, authority, ':80');
}

function findName(
  hosts: ReadonlyMap<string, RouteHost>,
  name: string,
  port: string,
): RouteHost | undefined {
  const exact = hosts.get(name + port);
  if (exact !== undefined) return exact;
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    const wildcard = hosts.get(`*${name.slice(dot)}${port}`);
    if (wildcard !== undefined) return wildcard;
  }
  return undefined;
}

function routeHost(routes: readonly GatewayRoute[]): RouteHost {
  const first = routes[0]?.compiled;
  if (first === undefined) throw new Error('a host has at least one route');
  return {
    host: first.host,
    scheme: first.scheme,
    port: first.port,
    mcpServers: routes.filter(({ compiled }) => compiled.mcpServer !== undefined),
    isPathSensitive: routes.length > 1 || routes.some(asksForPath),
    matchPath: pathMatcher(routes, EXACTLY),
    matchPathLoosely: pathMatcher(routes, LOOSELY),
  };
}

function asksForPath({ compiled: { access, path } }: GatewayRoute): boolean {
  if (path.kind === 'regex') return true;
  if (access.kind === 'public') return false;
  return criteriaOf(access.policy).some(({ kind }) => kind === 'http_path');
}

/** How paths are compared. */
interface Reading {
  /** What paths and the values of routes become before they are compared. */
  readonly key: (path: string) => string;
  /** What a path becomes before it meets a regular expression, which says itself where it ends. */
  readonly text: (path: string) => string;
  readonly flags: string;
}

const asItIs = (path: string): string => path;
const EXACTLY: Reading = { key: asItIs, text: asItIs, flags: 'u' };
const LOOSELY: Reading = {
  key: (path) => loosePath(path).replace(/\/$/, ''),
  text: loosePath,
  flags: 'iu',
};

function pathMatcher(
  routes: readonly GatewayRoute[],
  { key, text, flags }: Reading,
): (path: string) => GatewayRoute | undefined {
  const of = (kind: PathMatch['kind']): GatewayRoute[] =>
    routes.filter(({ compiled }) => compiled.path.kind === kind);
  const byKey = (kind: PathMatch['kind']): ReadonlyMap<string, GatewayRoute> =>
    new Map(of(kind).map((route) => [key(route.compiled.path.value), route]));
  const exact = byKey('exact');
  const prefixes = byKey('prefix');
  const expressions = of('regex')
    .sort((a, b) => (a.compiled.name < b.compiled.name ? -1 : 1))
    .map((route) => ({
      route,
      expression: new RegExp(`^(?:${route.compiled.path.value})$`, flags),
    }));
  return (path) =>
    exact.get(key(path)) ??
    longestPrefix(prefixes, key(path)) ??
    expressions.find(({ expression }) => expression.test(text(path)))?.route ??
    prefixes.get('');
}

/** Prefixes match whole segments: `/a` owns `/a` and `/a/b`, not `/ab`. */
function longestPrefix(
  prefixes: ReadonlyMap<string, GatewayRoute>,
  path: string,
): GatewayRoute | undefined {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const route = prefixes.get(path.slice(0, end));
    if (route !== undefined) return route;
  }
  return undefined;
}

/** Origin of the host that a request came to; a wildcard host takes the name asked for. */
export function originOfHost(host: RouteHost, authority: string): string {
  const route = host.host.startsWith('*.') ? authority.replace(/:\d+$/, '') : host.host;
  return originOf({ scheme: host.scheme, host: route, port: host.port });
}
