import type { GatewayRoute, HostRoutes } from '../configuration/routing-table.ts';
import { RouteNotFoundError } from '../errors/routing-errors.ts';
import type { Endpoint } from './endpoint.ts';
import { DEFAULT_PATHS, PATHS } from './paths.ts';
import { isReservedPath } from '../../shared/paths/reserved-path.ts';

/** The documents under `/.well-known/`. */
export interface WellKnowns {
  /** Returns whether a path is one of the documents. */
  owns(path: string): boolean;
  readonly endpoint: Endpoint;
}

/** Answers every other path under the reserved prefix: none of them reaches an upstream. */
const NOTHING: Endpoint = {
  methods: ['GET', 'POST'],
  audience: 'text',
  crossOrigin: false,
  handle: () => Promise.reject(new RouteNotFoundError(404, 'no endpoint has this path')),
};

/** Returns the gateway's own endpoint at a path of a host; undefined for paths that are proxied. */
export type FindEndpoint = (host: HostRoutes | undefined, path: string) => Endpoint | undefined;

/**
 * Makes the function that finds endpoints, from the endpoints by path.
 *
 * The well-known paths of OAuth and the default paths are the gateway's only on hosts with an MCP server
 * route.
 */
export function endpointFinder(
  endpoints: Readonly<Record<string, Endpoint>>,
  wellKnowns: WellKnowns,
): FindEndpoint {
  const byPath = new Map(Object.entries(endpoints));
  const byDefaultPath = new Map(
    Object.entries(DEFAULT_PATHS).map(([path, served]) => [path, byPath.get(served)]),
  );
  return (host, path) => {
    if (isReservedPath(path)) return endpointAt(byPath, path, host) ?? NOTHING;
    if (host === undefined || host.mcpServers.length === 0) return undefined;
    if (path.startsWith('/.well-known/') && wellKnowns.owns(path)) return wellKnowns.endpoint;
    const endpoint = byDefaultPath.get(path);
    return endpoint === undefined || isOwned(path, host) ? undefined : endpoint;
  };
}

function endpointAt(
  byPath: ReadonlyMap<string, Endpoint>,
  path: string,
  host: HostRoutes | undefined,
): Endpoint | undefined {
  if (OF_APPLICATIONS.includes(path) && host?.hasApplication !== true) return undefined;
  return byPath.get(withoutProvider(path));
}

/** Paths that exist only on hosts with an `mcp.client` route (specification: Endpoints). */
const OF_APPLICATIONS: readonly string[] = [PATHS.routes, PATHS.disconnect];

/** The callbacks of all identity providers are one endpoint. */
function withoutProvider(path: string): string {
  return path.startsWith(PATHS.callbackOfProvider) ? PATHS.callback : path;
}

/**
 * Returns whether a Route of the host owns a default path, in a reading of some upstream too.
 *
 * The MCP route of all paths serves only its endpoint, which is at another path, and its sub-paths.
 */
function isOwned(path: string, host: HostRoutes): boolean {
  return [host.matchPath(path), host.matchPathLoosely(path)].some(
    (route) => route !== undefined && (!isMcpRouteOfAllPaths(route) || servesPath(route, path)),
  );
}

function isMcpRouteOfAllPaths({ compiled: { mcpServer, path } }: GatewayRoute): boolean {
  return mcpServer !== undefined && path.kind === 'prefix' && path.value === '';
}

function servesPath({ mcpPaths }: GatewayRoute, path: string): boolean {
  return mcpPaths?.has(path) === true;
}
