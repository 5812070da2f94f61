import { resourceIdentifier } from '../configuration/resource-identifier.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { tidyPath } from './resource-path.ts';
import { mcpRouteAt, type Issuer } from './resources.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/**
 * Protected resource metadata for a path of a host; null when no MCP route is there.
 *
 * `resource` repeats the path as it was asked for, since clients compare it with the URL they use.
 * The host's root, when no MCP route is there, stands for its only one elsewhere.
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

/** Whether a path is the host's root or inside an MCP route. */
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
