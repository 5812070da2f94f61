import { criteriaOf } from '../../shared/snapshot/policy.ts';
import type { RejectedResource } from '../../shared/snapshot/rejected-resource.ts';
import { routeKey } from '../../shared/snapshot/resource-key.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { servedPaths, type McpPathKind } from '../mcp/served-paths.ts';
import { buildPolicyEvaluator } from '../policy/build-policy-evaluator.ts';
import type { PolicyEvaluator } from '../policy/decision.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import { EXACTLY, LOOSELY, type PathComparison } from './path-comparison.ts';
import type { ResourceChange } from './snapshot-changes.ts';
import type { Steps } from './steps.ts';
import { UnservableError } from './unservable-error.ts';
import { originOf, type Origin } from '../../shared/snapshot/origin.ts';

/** A route ready to serve. */
export interface GatewayRoute {
  readonly compiled: CompiledRoute;
  /** Absent on public routes. */
  readonly policy: PolicyEvaluator | undefined;
  /** The paths that an MCP route serves, of those that it owns. Absent on other routes. */
  readonly mcpPaths: ReadonlyMap<string, McpPathKind> | undefined;
}

/** Makes a route ready to serve. Throws if its policy, path or upstream is invalid. */
export const gatewayRoute = oncePerObject((compiled: CompiledRoute): GatewayRoute => {
  const { access, upstream } = compiled;
  for (const { pathOf } of [EXACTLY, LOOSELY]) pathOf(compiled);
  if (!URL.canParse(upstream)) throw new Error('the upstream is not a URL');
  return {
    compiled,
    policy: access.kind === 'policy' ? buildPolicyEvaluator(access.policy) : undefined,
    mcpPaths: servedPaths(compiled),
  };
});

/** All routes of one `from` host and port. */
export interface HostRoutes {
  /** By name. */
  readonly routes: readonly GatewayRoute[];
  /** Host as in `from`; `*.example.com` for a wildcard. */
  readonly host: string;
  readonly scheme: 'http' | 'https';
  readonly port: number;
  readonly mcpServers: readonly GatewayRoute[];
  /**
   * Whether the path decides who may do what: there are several routes, a regular expression, or a policy
   * that tests the path. A path that the upstream could read differently must then be refused.
   */
  readonly isPathSensitive: boolean;
  /** Exact path, then the longest prefix, then regular expressions by name, then the catch-all. */
  matchPath(path: string): GatewayRoute | undefined;
  /**
   * Finds the route of a path as a server would that ignores case, encoding, path parameters and a final
   * slash. If the result differs from `matchPath`, the path can be read in two ways.
   */
  matchPathLoosely(path: string): GatewayRoute | undefined;
}

/**
 * Finds the routes of a host, at a cost that does not grow with the number of hosts. Immutable: a change
 * makes a new table that shares all unchanged hosts.
 */
export class RoutingTable {
  /** By host and port of `from`. */
  readonly #hosts: ReadonlyMap<string, HostRoutes>;

  private constructor(hosts: ReadonlyMap<string, HostRoutes>) {
    this.#hosts = hosts;
  }

  static readonly EMPTY = new RoutingTable(new Map());

  /** By `Host` header: exact name, then the longest wildcard. Without a port, 443 and then 80. */
  findHost(authority: string): HostRoutes | undefined {
    return findHost(this.#hosts, authority);
  }

  /**
   * Returns the table after these changes. Throws if a route cannot be served, and `UnservableError` if
   * two routes own the same path of a host: chance must not decide between them.
   */
  *with(changes: readonly ResourceChange[]): Steps<RoutingTable> {
    const changed = yield* changesByHost(changes);
    if (changed.size === 0) return this;
    const hosts = new Map(this.#hosts);
    const rejected: RejectedResource[] = [];
    for (const [key, { names, added }] of changed) {
      const kept = hosts.get(key)?.routes.filter(({ compiled }) => !names.has(compiled.name)) ?? [];
      rejected.push(...repeatedPaths(kept, added));
      const routes = [...kept, ...added].sort(byName);
      if (routes.length === 0) hosts.delete(key);
      else hosts.set(key, hostRoutes(routes));
      yield;
    }
    if (rejected.length > 0) throw new UnservableError(rejected);
    return new RoutingTable(hosts);
  }
}

/** The changes to the routes of one host. */
interface HostChange {
  /** Names of routes that are removed or replaced. */
  readonly names: Set<string>;
  readonly added: GatewayRoute[];
}

function* changesByHost(
  changes: readonly ResourceChange[],
): Steps<ReadonlyMap<string, HostChange>> {
  const byHost = new Map<string, HostChange>();
  const changeOf = ({ host, port }: CompiledRoute): HostChange => {
    const key = `${host}:${String(port)}`;
    const change = byHost.get(key) ?? { names: new Set(), added: [] };
    byHost.set(key, change);
    return change;
  };
  for (const { before, after } of changes) {
    if (before?.value.kind === 'route') changeOf(before.value).names.add(before.value.name);
    if (after?.value.kind === 'route') changeOf(after.value).added.push(gatewayRoute(after.value));
    yield;
  }
  return byHost;
}

/** Returns added routes with the path of another route. */
function repeatedPaths(
  kept: readonly GatewayRoute[],
  added: readonly GatewayRoute[],
): readonly RejectedResource[] {
  const owned = new Set(kept.map(pathKey));
  return added.flatMap((route) => {
    const path = pathKey(route);
    if (owned.has(path)) {
      const key = routeKey(route.compiled.name);
      return [{ key, message: 'another route has the same host, port and path' }];
    }
    owned.add(path);
    return [];
  });
}

function pathKey({ compiled: { path } }: GatewayRoute): string {
  return `${path.kind} ${path.value}`;
}

function byName(a: GatewayRoute, b: GatewayRoute): number {
  return a.compiled.name < b.compiled.name ? -1 : 1;
}

function findHost(
  hosts: ReadonlyMap<string, HostRoutes>,
  authority: string,
): HostRoutes | undefined {
  const colon = authority.lastIndexOf(':');
  const hasPort = colon !== -1 && !authority.endsWith(']');
  if (hasPort) return findName(hosts, authority.slice(0, colon), authority.slice(colon));
  return findName(hosts, authority, ':443') ?? findName(hosts, authority, ':80');
}

function findName(
  hosts: ReadonlyMap<string, HostRoutes>,
  name: string,
  port: string,
): HostRoutes | undefined {
  const exact = hosts.get(name + port);
  if (exact !== undefined) return exact;
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    const wildcard = hosts.get(`*${name.slice(dot)}${port}`);
    if (wildcard !== undefined) return wildcard;
  }
  return undefined;
}

function hostRoutes(routes: readonly GatewayRoute[]): HostRoutes {
  const first = routes[0]?.compiled;
  if (first === undefined) throw new Error('a host has at least one route');
  return {
    routes,
    host: first.host,
    scheme: first.scheme,
    port: first.port,
    mcpServers: routes.filter(({ compiled }) => compiled.mcpServer !== undefined),
    isPathSensitive: routes.length > 1 || routes.some(testsPath),
    matchPath: pathMatcher(routes, EXACTLY),
    matchPathLoosely: pathMatcher(routes, LOOSELY),
  };
}

function testsPath({ compiled: { access, path } }: GatewayRoute): boolean {
  if (path.kind === 'regex') return true;
  if (access.kind === 'public') return false;
  return criteriaOf(access.policy).some(({ kind }) => kind === 'http_path');
}

function pathMatcher(
  routes: readonly GatewayRoute[],
  { key, text, pathOf }: PathComparison,
): (path: string) => GatewayRoute | undefined {
  const exact = new Map<string, GatewayRoute>();
  const prefixes = new Map<string, GatewayRoute>();
  const expressions: { readonly route: GatewayRoute; readonly expression: RegExp }[] = [];
  for (const route of routes) {
    const path = pathOf(route.compiled);
    if (path.kind === 'regex') expressions.push({ route, expression: path.expression });
    else (path.kind === 'exact' ? exact : prefixes).set(path.key, route);
  }
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

/** Returns the origin of a host; for a wildcard host, with the name that the request is for. */
export function originOfHost(host: HostRoutes, authority: string): Origin {
  const name = host.host.startsWith('*.') ? authority.replace(/:\d+$/, '') : host.host;
  return originOf({ scheme: host.scheme, host: name, port: host.port });
}
