import { originOf, type Origin } from '../../shared/snapshot/origin.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';

/**
 * Returns the resource identifier of an MCP route (RFC 8707, RFC 9728): `from` and the matched prefix. It
 * is the URL to give to clients, and the audience of the route's external tokens.
 *
 * Every name of a wildcard host is an issuer of its own, so `origin` must be the origin of the request
 * there.
 */
export function resourceIdentifier(route: CompiledRoute, origin: Origin = originOf(route)): string {
  return origin + resourcePath(route);
}

/** Returns the path of a route's resource identifier; empty at the root of the host. */
export function resourcePath({ path }: CompiledRoute): string {
  return path.kind === 'regex' ? '' : path.value;
}
