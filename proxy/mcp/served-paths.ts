import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';

/**
 * The kinds of paths of an MCP route: its endpoint, and sub-paths to which the rules of the endpoint apply
 * or do not apply.
 */
export type McpPathKind = 'endpoint' | 'inspected' | 'uninspected';

/**
 * Returns the paths that an MCP route serves, to be compared byte for byte: its endpoint, and the
 * sub-paths that it lists. Undefined for other routes.
 *
 * A slash at the end of the endpoint, and the path of the endpoint at the upstream below it, lead to
 * the same URL of the upstream.
 *
 * Attack: `DELETE /api/tables/1`. Every path of the upstream that is not its MCP endpoint would be
 * open past a policy about tools.
 */
export function servedPaths({
  path: { kind, value: endpoint },
  mcpServer,
}: Pick<CompiledRoute, 'path' | 'mcpServer'>): ReadonlyMap<string, McpPathKind> | undefined {
  if (mcpServer === undefined) return undefined;
  const paths = new Map<string, McpPathKind>();
  if (endpoint !== '') paths.set(endpoint, 'endpoint');
  if (kind === 'exact') return paths;
  for (const { path, inspected } of mcpServer.subPaths ?? []) {
    paths.set(endpoint + path, inspected ? 'inspected' : 'uninspected');
  }
  const atUpstream = endpoint + mcpServer.path;
  if (atUpstream !== '') paths.set(atUpstream, 'endpoint');
  return paths.set(`${endpoint}/`, 'endpoint').set(`${atUpstream}/`, 'endpoint');
}
