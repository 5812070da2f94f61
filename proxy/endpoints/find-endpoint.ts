import type { HostRoutes } from '../configuration/routing-table.ts';
import { RouteNotFoundError } from '../errors/routing-errors.ts';
import type { Endpoint } from './endpoint.ts';
import { isReservedPath } from './reserved-path.ts';

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
 * The well-known paths of OAuth are the gateway's only on hosts with an MCP server route.
 */
export function endpointFinder(
  endpoints: Readonly<Record<string, Endpoint>>,
  wellKnowns: WellKnowns,
): FindEndpoint {
  const byPath = new Map(Object.entries(endpoints));
  return (host, path) => {
    if (isReservedPath(path)) return byPath.get(path) ?? NOTHING;
    if (!path.startsWith('/.well-known/') || host === undefined) return undefined;
    return host.mcpServers.length > 0 && wellKnowns.owns(path) ? wellKnowns.endpoint : undefined;
  };
}
