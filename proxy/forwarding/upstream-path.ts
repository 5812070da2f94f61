import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';

/**
 * Returns the path and query to send: the path of `to`, then `mcp.server.path`, then the rest of the
 * path after the matched prefix. Nothing is decoded, collapsed or resolved.
 */
export function upstreamPath(
  route: Pick<CompiledRoute, 'path' | 'upstream' | 'mcpServer'>,
  { path, query }: Pick<GatewayRequest, 'path' | 'query'>,
): string {
  const { upstream, mcpServer: { path: endpoint } = { path: '' } } = route;
  const base = upstream.slice(originLength(upstream));
  const rest = restOf(route.path, path);
  const isThere = rest === endpoint || rest.startsWith(`${endpoint}/`);
  const joined = isThere ? base + rest : base + endpoint + rest;
  return (joined === '' ? '/' : joined) + query;
}

/** Returns scheme, host and port of a route's `to`. */
export function upstreamOrigin({ upstream }: Pick<CompiledRoute, 'upstream'>): string {
  return upstream.slice(0, originLength(upstream));
}

function originLength(upstream: string): number {
  const slash = upstream.indexOf('/', upstream.indexOf('://') + '://'.length);
  return slash === -1 ? upstream.length : slash;
}

function restOf(match: CompiledRoute['path'], path: string): string {
  switch (match.kind) {
    case 'exact':
      return '';
    case 'regex':
      return path;
    case 'prefix':
      // A URL without a path is requested as `/` (RFC 9112, section 3.2.1): the slash is not in the path.
      return match.value === '' && path === '/' ? '' : path.slice(match.value.length);
  }
}
