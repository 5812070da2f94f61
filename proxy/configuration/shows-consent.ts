import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';
import type { HostRoutes } from './routing-table.ts';

/**
 * Returns whether the gateway shows consent pages at an origin: at the authenticate host, or without one at
 * every host with an MCP route.
 */
export function showsConsent(
  { origin, routes }: { readonly origin: Origin; readonly routes: HostRoutes | undefined },
  { authenticateOrigin }: Pick<CompiledSettings, 'authenticateOrigin'>,
): boolean {
  if (authenticateOrigin !== undefined) return origin === authenticateOrigin;
  return routes !== undefined && routes.mcpServers.length > 0;
}
