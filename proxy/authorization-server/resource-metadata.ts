import { resourceIdentifier } from '../configuration/resource-identifier.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { tidyPath } from './resource-path.ts';
import { mcpRouteAt, type Issuer } from './resources.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/**
 * Returns the protected resource metadata for a path of a host; null if it has no MCP route.
 *
 * `resource` repeats the requested path, since clients compare it with the URL they use. If the root of
 * the host has no MCP route and the host has only one elsewhere, the root describes that one.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9728#section-3 RFC 9728, section 3}
 */
export function protectedResourceMetadata(
  { host, origin }: Issuer,
  requestPath: string,
): Readonly<Record<string, unknown>> | null {
  const path = tidyPath(requestPath);
  if (path === null) return null;
  const route = mcpRouteAt(host, path);
  if (route !== null) return describeResource(origin + path, route, origin);
  const [only, another] = host.mcpServers;
  if (path !== '' || only === undefined || another !== undefined) return null;
  return describeResource(resourceIdentifier(only.compiled, origin), only, origin);
}

/** Returns whether a path is the root of the host or inside an MCP route. */
export function isRootOrMcpPath({ host }: Issuer, requestPath: string): boolean {
  const path = tidyPath(requestPath);
  return path === '' || (path !== null && mcpRouteAt(host, path) !== null);
}

function describeResource(
  resource: string,
  { compiled }: GatewayRoute,
  origin: Origin,
): Readonly<Record<string, unknown>> {
  return {
    resource,
    resource_name: compiled.name,
    authorization_servers: [origin],
    bearer_methods_supported: ['header'],
  };
}
