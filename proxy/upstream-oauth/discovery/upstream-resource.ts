import type { CompiledRoute } from '../../../shared/snapshot/snapshot.ts';

/** Returns the URL of the MCP endpoint of a route's upstream. */
export function upstreamResource({
  upstream,
  mcpServer,
}: Pick<CompiledRoute, 'upstream' | 'mcpServer'>): string {
  return upstream + (mcpServer?.path ?? '');
}

/**
 * Returns whether metadata about a resource are those of an upstream: the same URL, or one that its path
 * continues by whole segments. Stricter than many servers, which give their origin only, need; looser than
 * RFC 9728, section 3.3, which clients cannot follow with them.
 */
export function isResourceOf(resource: string, upstreamUrl: string): boolean {
  const claimed = URL.parse(resource);
  const actual = URL.parse(upstreamUrl);
  if (actual === null || claimed?.origin !== actual.origin) return false;
  if (claimed.username !== '' || claimed.password !== '' || resource.includes('#')) return false;
  if (claimed.search !== '' && claimed.search !== actual.search) return false;
  const prefix = withFinalSlash(claimed.pathname);
  return withFinalSlash(actual.pathname).startsWith(prefix);
}

function withFinalSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
