import type { Automaton } from '../../shared/paths/regex/automaton.ts';
import { criteriaOf } from '../../shared/policy/policy.ts';
import type { RejectedResource } from '../../shared/snapshot/rejected-resource.ts';
import { routeKey } from '../../shared/snapshot/resource-key.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { servedPaths, type McpPathKind } from '../mcp/served-paths.ts';
import { buildPolicyEvaluator } from '../policy/build-policy-evaluator.ts';
import type { PolicyEvaluator } from '../policy/decision.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import { hasPort, heldHostsAfter, NO_HELD_HOSTS, type HeldHosts } from './held-hosts.ts';
import { EXACTLY, LOOSELY, type PathComparison } from './path-comparison.ts';
import { PrefixTree } from './prefix-tree.ts';
import { resourcePath } from './resource-identifier.ts';
import type { ResourceChange } from './snapshot-changes.ts';
import type { Steps } from './steps.ts';
import { UnservableError } from './unservable-error.ts';
import { isWildcard, WildcardTree } from './wildcard-tree.ts';
import { originOf, type Origin } from '../../shared/snapshot/origin.ts';
import { withoutFinalSlash } from '../../shared/paths/without-final-slash.ts';

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
  /** What `from` says; the origin of a wildcard host keeps its `*`. */
  readonly origin: Origin;
  readonly mcpServers: readonly GatewayRoute[];
  /** The MCP routes by the path of their resource identifier, without a slash at its end. */
  readonly mcpServersByPath: ReadonlyMap<string, GatewayRoute>;
  /** Whether one of the routes is an `mcp.client` route. */
  readonly hasApplication: boolean;
  /** Whether users connect one of the MCP servers at the authorization server of its upstream. */
  readonly connectsUsers: boolean;
  /**
   * Whether the path decides who may do what: there are several routes, a regular expression, or a policy
   * that tests the path. A path that the upstream could read differently must then be refused.
   */
  readonly isPathSensitive: boolean;
  /** The most regular expressions and policy criteria that read one path. */
  readonly pathTests: number;
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
  readonly #wildcards: WildcardTree;
  /** Hosts that no wildcard serves. */
  readonly #held: HeldHosts;

  private constructor(
    hosts: ReadonlyMap<string, HostRoutes>,
    wildcards: WildcardTree,
    held: HeldHosts,
  ) {
    this.#hosts = hosts;
    this.#wildcards = wildcards;
    this.#held = held;
  }

  static readonly EMPTY = new RoutingTable(new Map(), new WildcardTree([]), NO_HELD_HOSTS);

  /** Returns every host, in no order. */
  hosts(): Iterable<HostRoutes> {
    return this.#hosts.values();
  }

  /** By `Host` header: exact name, then the longest wildcard. Without a port, 443 and then 80. */
  findHost(authority: string): HostRoutes | undefined {
    // The key of a host is a `Host` field with a port: one that is written so needs no parts.
    const exact = this.#hosts.get(authority);
    if (exact !== undefined) return exact;
    const colon = authority.lastIndexOf(':');
    const hasPort = colon !== -1 && !authority.endsWith(']');
    if (hasPort) return this.#findName(authority.slice(0, colon), authority.slice(colon));
    return this.#findName(authority, ':443') ?? this.#findName(authority, ':80');
  }

  #findName(name: string, port: string): HostRoutes | undefined {
    const exact = this.#hosts.get(name + port);
    if (exact !== undefined || hasPort(this.#held.get(name), port)) return exact;
    return this.#hosts.get(this.#wildcards.find(name, port) ?? '');
  }

  /**
   * Returns the table after these changes. Throws if a route cannot be served, and `UnservableError` if
   * two routes own the same path of a host: chance must not decide between them.
   */
  *with(changes: readonly ResourceChange[]): Steps<RoutingTable> {
    const changed = yield* changesByHost(changes);
    const held = heldHostsAfter(this.#held, changes);
    if (changed.size === 0 && held === this.#held) return this;
    const hosts = new Map(this.#hosts);
    const rejected: RejectedResource[] = [];
    let wildcardsChanged =
      held !== this.#held && [...held.keys(), ...this.#held.keys()].some(isWildcard);
    for (const [key, { names, added }] of changed) {
      const kept = hosts.get(key)?.routes.filter(({ compiled }) => !names.has(compiled.name)) ?? [];
      rejected.push(...repeatedPaths(kept, added));
      const routes = [...kept, ...added].sort(byName);
      if (routes.length === 0) hosts.delete(key);
      else hosts.set(key, hostRoutes(routes));
      wildcardsChanged ||= isWildcard(key) && hosts.has(key) !== this.#hosts.has(key);
      yield;
    }
    if (rejected.length > 0) throw new UnservableError(rejected);
    const wildcards = wildcardsChanged ? new WildcardTree(hosts.keys(), held) : this.#wildcards;
    return new RoutingTable(hosts, wildcards, held);
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

function hostRoutes(routes: readonly GatewayRoute[]): HostRoutes {
  const first = routes[0]?.compiled;
  if (first === undefined) throw new Error('a host has at least one route');
  const mcpServers = routes.filter(({ compiled }) => compiled.mcpServer !== undefined);
  const expressions = routes.filter(hasExpression).length;
  const criteria = routes.reduce((most, route) => Math.max(most, pathCriteria(route)), 0);
  return {
    routes,
    host: first.host,
    scheme: first.scheme,
    port: first.port,
    origin: originOf(first),
    mcpServers,
    mcpServersByPath: new Map(
      mcpServers.map((route) => [withoutFinalSlash(resourcePath(route.compiled)), route]),
    ),
    hasApplication: routes.some(({ compiled }) => compiled.mcpClient === true),
    connectsUsers: mcpServers.some(({ compiled }) => compiled.mcpServer?.upstreamOAuth),
    isPathSensitive: routes.length > 1 || expressions + criteria > 0,
    pathTests: expressions + criteria,
    matchPath: pathMatcher(routes, EXACTLY),
    matchPathLoosely: pathMatcher(routes, LOOSELY),
  };
}

function hasExpression({ compiled }: GatewayRoute): boolean {
  return compiled.path.kind === 'regex';
}

/** Returns the number of criteria of a policy that test the path. */
function pathCriteria({ compiled: { access } }: GatewayRoute): number {
  if (access.kind === 'public') return 0;
  return criteriaOf(access.policy).filter(({ kind }) => kind === 'http_path').length;
}

function pathMatcher(
  routes: readonly GatewayRoute[],
  { textOf, keyOf, pathOf }: PathComparison,
): (path: string) => GatewayRoute | undefined {
  const exact = new Map<string, GatewayRoute>();
  const prefixes = new PrefixTree<GatewayRoute>();
  let catchAll: GatewayRoute | undefined;
  const expressions: { readonly route: GatewayRoute; readonly expression: Automaton }[] = [];
  for (const route of routes) {
    const path = pathOf(route.compiled);
    if (path.kind === 'regex') expressions.push({ route, expression: path.expression });
    else if (path.kind === 'exact') exact.set(path.key, route);
    else if (path.key === '') catchAll = route;
    else prefixes.add(path.key, route);
  }
  const routeOfExpression = (text: string): GatewayRoute | undefined => {
    if (expressions.length === 0) return undefined;
    const bytes = Buffer.from(text);
    return expressions.find(({ expression }) => expression.matches(bytes))?.route;
  };
  return (path) => {
    const text = textOf(path);
    const key = keyOf(text);
    return exact.get(key) ?? prefixes.find(key) ?? routeOfExpression(text) ?? catchAll;
  };
}

/** Returns the origin of a host; for a wildcard host, with the name that the request is for. */
export function originOfHost(
  { host, scheme, port, origin }: HostRoutes,
  authority: string,
): Origin {
  if (!host.startsWith('*.')) return origin;
  return originOf({ scheme, host: authority.replace(/:\d+$/, ''), port });
}
