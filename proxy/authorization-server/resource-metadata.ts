import { resourceIdentifier } from '../configuration/resource-identifier.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { tidyPath } from './resource-path.ts';
import { isAuthorizationServer, mcpRouteAt, signsUsersIn, type Issuer } from './resources.ts';

/**
 * Returns the protected resource metadata for a path of a host; null if it has no MCP route.
 *
 * `resource` repeats the requested path, since clients compare it with the URL they use. If the root of
 * the host has no MCP route and the host has only one elsewhere, the root describes that one.
 *
 * A route that nobody can sign in for names no authorization server, so that clients do not send a user to one.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9728#section-3 RFC 9728, section 3}
 */
export function protectedResourceMetadata(
  issuer: Issuer,
  requestPath: string,
): Readonly<Record<string, unknown>> | null {
  const { host, origin } = issuer;
  const path = tidyPath(requestPath);
  if (path === null) return null;
  const route = mcpRouteAt(host, path);
  if (route !== null) return describeResource(origin + path, route, issuer);
  const [only, another] = host.mcpServers;
  if (path !== '' || only === undefined || another !== undefined) return null;
  return describeResource(resourceIdentifier(only.compiled, origin), only, issuer);
}

/** Returns whether a path is the root of an authorization server, or inside an MCP route that users sign in for. */
export function isPathOfAuthorizationServer(issuer: Issuer, requestPath: string): boolean {
  const path = tidyPath(requestPath);
  if (path === '') return isAuthorizationServer(issuer);
  const route = path === null ? null : mcpRouteAt(issuer.host, path);
  return route !== null && signsUsersIn(route, issuer);
}

function describeResource(
  resource: string,
  route: GatewayRoute,
  issuer: Issuer,
): Readonly<Record<string, unknown>> {
  return {
    resource,
    resource_name: route.compiled.name,
    ...(signsUsersIn(route, issuer) && { authorization_servers: [issuer.origin] }),
    bearer_methods_supported: ['header'],
  };
}
