import type { Route } from '../../crds/types.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { made, invalid, type CompileResult } from './compile-result.ts';
import { namespaceOf } from './resources.ts';
import type { RouteContext } from './route-context.ts';

/**
 * Compiles `mcp.client`; undefined for routes without it.
 *
 * Attack: whoever may create Routes in any namespace collects tokens of users.
 */
export function compileMcpClient(
  route: Route,
  { mcpClientNamespaces, missingSettings }: RouteContext,
): CompileResult<CompiledRoute['mcpClient']> {
  if (route.spec.mcp?.client === undefined) return made(undefined);
  const namespace = namespaceOf(route);
  // Without settings the route does not serve, which is reported elsewhere.
  if (missingSettings !== undefined || mcpClientNamespaces.includes(namespace)) return made(true);
  const message = `mcpClientNamespaces of the settings does not list namespace ${namespace}, and applications get tokens of users`;
  return invalid('spec.mcp.client', 'NotAllowedByGateway', message);
}
