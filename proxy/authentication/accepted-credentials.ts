import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import type { CredentialFormat } from './caller.ts';

/** Kinds of routes that differ in who may call them. */
type RouteKind = 'public' | 'mcp-server' | 'web';

/** How bearer tokens are read. `default`: only the gateway's own external tokens have a meaning. */
type BearerTokenFormat = 'default';

/**
 * Which credential each kind of route accepts, by the bearer token format that is in effect.
 *
 * MCP routes accept an external token and never a cookie: browsers attach cookies to requests that
 * other sites make. Web routes accept the session cookie. Public routes authenticate nobody.
 */
const ACCEPTED: Readonly<
  Record<RouteKind, Readonly<Record<BearerTokenFormat, CredentialFormat | 'nothing'>>>
> = {
  public: { default: 'nothing' },
  'mcp-server': { default: 'external-token' },
  web: { default: 'session-cookie' },
};

/** Returns the credential format that a route accepts; `nothing` on routes open to everyone. */
export function acceptedCredential(route: CompiledRoute): CredentialFormat | 'nothing' {
  return ACCEPTED[kindOf(route)].default;
}

function kindOf({ access, mcpServer }: CompiledRoute): RouteKind {
  if (access.kind === 'public') return 'public';
  return mcpServer === undefined ? 'web' : 'mcp-server';
}
