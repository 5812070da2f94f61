import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import type { CredentialKind } from './caller.ts';

/** Kinds of routes that differ in who may call them. */
type RouteKind = 'public' | 'mcp-server' | 'web';

/**
 * How a route reads bearer tokens. `default`: MCP routes accept the gateway's own external tokens, and
 * other routes read none.
 */
type BearerTokenFormat = 'default';

/**
 * The credential that each kind of route accepts, by bearer token format. So far every route has
 * `default`.
 *
 * MCP routes accept an external token and never a cookie: browsers attach cookies to requests that
 * other sites make. Web routes accept the session cookie. Public routes authenticate nobody.
 */
const ACCEPTED: Readonly<
  Record<RouteKind, Readonly<Record<BearerTokenFormat, CredentialKind | 'nothing'>>>
> = {
  public: { default: 'nothing' },
  'mcp-server': { default: 'external-token' },
  web: { default: 'session-cookie' },
};

/** Returns the credential format that a route accepts; `nothing` on routes open to everyone. */
export function acceptedCredential(route: CompiledRoute): CredentialKind | 'nothing' {
  return ACCEPTED[kindOf(route)].default;
}

function kindOf({ access, mcpServer }: CompiledRoute): RouteKind {
  if (access.kind === 'public') return 'public';
  return mcpServer === undefined ? 'web' : 'mcp-server';
}
