import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';
import type { HostRoutes } from './routing-table.ts';

/**
 * Returns whether scripts of web routes must not get between browsers and the gateway at an origin. It shows
 * consent pages at the authenticate host, or without one at every host with an MCP route. And users come back
 * from the authorization servers of upstreams, with codes, to the hosts of their MCP servers.
 */
export function keepsScriptsOut(
  { origin, routes }: { readonly origin: Origin; readonly routes: HostRoutes | undefined },
  { authenticateOrigin }: Pick<CompiledSettings, 'authenticateOrigin'>,
): boolean {
  if (routes?.connectsUsers === true) return true;
  if (authenticateOrigin !== undefined) return origin === authenticateOrigin;
  return routes !== undefined && routes.mcpServers.length > 0;
}
