import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';
import { authorityOf } from '../address.ts';
import { withoutFinalSlash } from '../../../shared/paths/without-final-slash.ts';

/** Something that only one route at a time can hold, such as a path on a host. */
export interface RouteClaim {
  readonly key: string;
  /** The predicate of its holder in a message: `serves the same host and path`. */
  readonly what: string;
}

/** Everything that a route asks for and other routes may ask for too. */
export interface RouteClaims {
  readonly host: string;
  readonly authority: string;
  readonly scheme: CompiledRoute['scheme'];
  readonly claims: readonly RouteClaim[];
}

/** Returns the claims of a compiled route. */
export function claimsOf(compiled: CompiledRoute): RouteClaims {
  const { host, scheme, path, mcpServer } = compiled;
  const authority = authorityOf(compiled);
  const own = {
    key: `path ${authority} ${path.kind} ${path.value}`,
    what: 'serves the same host and path',
  };
  if (mcpServer === undefined) return { host, authority, scheme, claims: [own] };
  // Attack: MCP servers that share a resource identifier accept each other's tokens (RFC 8707).
  const url = authority + withoutFinalSlash(path.value);
  const mcp = { key: `mcp ${url}`, what: 'is an MCP server with the same URL' };
  return { host, authority, scheme, claims: [own, mcp] };
}

/** The key of all routes that ask for an authority with a scheme. */
export function schemeKey(authority: string, scheme: CompiledRoute['scheme']): string {
  return `scheme ${authority} ${scheme}`;
}

/** Returns the keys of all claims of a route. */
export function keysOf({ authority, scheme, claims }: RouteClaims): readonly string[] {
  return [schemeKey(authority, scheme), ...claims.map(({ key }) => key)];
}

/** Whether two routes have equal claims: replacing one by the other then affects no other route. */
export function hasSameClaims(
  one: RouteClaims | undefined,
  other: RouteClaims | undefined,
): boolean {
  if (one === undefined || other === undefined) return false;
  return String(keysOf(one)) === String(keysOf(other));
}
