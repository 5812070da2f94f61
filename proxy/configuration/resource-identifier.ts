import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Origin of a route's `from`: the issuer of its tokens. Wildcard hosts keep their `*`. */
export function originOf({
  scheme,
  host,
  port,
}: Pick<CompiledRoute, 'scheme' | 'host' | 'port'>): string {
  return port === DEFAULT_PORTS[scheme]
    ? `${scheme}://${host}`
    : `${scheme}://${host}:${String(port)}`;
}

/**
 * The resource identifier of an MCP route (RFC 8707, RFC 9728): `from` and the matched prefix. It is
 * the URL to give to clients, and the audience of the route's external tokens.
 *
 * Every name on a wildcard host is an issuer of its own, so there the origin must be the one that
 * was asked for.
 */
export function resourceIdentifier(route: CompiledRoute, origin: string = originOf(route)): string {
  return origin + (route.path.kind === 'regex' ? '' : route.path.value);
}
