import type { GatewayRoute } from '../configuration/routing-table.ts';
import { RouteNotFoundError } from '../errors/routing-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { McpPathKind } from '../mcp/served-paths.ts';

/**
 * Returns how the path of a request to an MCP route is checked; undefined on other routes.
 *
 * An MCP route serves its endpoint and the sub-paths that it lists. Any other path is answered like one
 * that no route has, before the caller is known.
 */
export function matchMcpPath(
  { path }: Pick<GatewayRequest, 'path'>,
  { mcpPaths, compiled }: GatewayRoute,
): McpPathKind | undefined {
  if (mcpPaths === undefined) return undefined;
  const kind = mcpPaths.get(path);
  if (kind !== undefined) return kind;
  const what = `the MCP route ${compiled.name} serves its endpoint and the sub-paths that it lists`;
  throw new RouteNotFoundError(404, `${what}, and this path is neither`);
}
