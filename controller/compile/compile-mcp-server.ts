import type { Route } from '../../crds/types.ts';
import type { CompiledRoute, CompiledSubPath } from '../../shared/snapshot/snapshot.ts';
import { loosePath } from '../../shared/paths/loose-path.ts';
import { memberPath } from '../validate/field-path.ts';
import { compileUpstreamOAuth } from './compile-upstream-oauth.ts';
import { all, andThen, combine, made, invalid, type CompileResult } from './compile-result.ts';
import { pathProblem, reservedPathProblem } from '../../shared/paths/path-problem.ts';
import type { RouteContext } from './route-context.ts';
import { withoutFinalSlash } from '../../shared/paths/without-final-slash.ts';

type Spec = Route['spec'];
type McpServer = NonNullable<NonNullable<Spec['mcp']>['server']>;
type SubPath = NonNullable<McpServer['subPaths']>[number];

const DEFAULT_MAX_REQUEST_BYTES = 4_096;

/** Compiles `mcp.server`; undefined for routes without it. */
export function compileMcpServer(
  route: Route,
  context: RouteContext,
): CompileResult<CompiledRoute['mcpServer']> {
  const server = route.spec.mcp?.server;
  if (server === undefined) return made(undefined);
  const parts = combine({
    path: compileServerPath(server),
    subPaths: compileSubPaths(route.spec, server),
    upstreamOAuth: compileUpstreamOAuth(route, context),
  });
  return andThen(parts, ({ path, subPaths, upstreamOAuth }) =>
    made({
      path,
      maxRequestBytes: server.maxRequestBytes ?? DEFAULT_MAX_REQUEST_BYTES,
      ...(subPaths.length > 0 && { subPaths }),
      ...(server.toolDenial !== undefined && { toolDenial: server.toolDenial }),
      ...(upstreamOAuth && { upstreamOAuth }),
    }),
  );
}

function compileServerPath({ path = '' }: McpServer): CompileResult<string> {
  const problem = path === '' ? undefined : pathProblem(path);
  if (problem !== undefined) return invalid('spec.mcp.server.path', 'InvalidSpec', problem);
  return made(withoutFinalSlash(path));
}

function compileSubPaths(
  { prefix = '' }: Spec,
  { subPaths = [], path: serverPath = '' }: McpServer,
): CompileResult<readonly CompiledSubPath[]> {
  const looselyRead = looseReader(serverPath);
  const uninspected = new Set(subPaths.filter(isUninspected).map(({ path }) => looselyRead(path)));
  return all(
    subPaths.map((subPath, index) => {
      const { path } = subPath;
      const problem =
        pathProblem(path) ??
        reservedPathProblem(withoutFinalSlash(prefix) + path) ??
        confusionProblem(subPath, looselyRead(path), uninspected);
      const place = memberPath(memberPath('spec.mcp.server.subPaths', index), 'path');
      return problem === undefined
        ? made({ path, inspected: !isUninspected(subPath) })
        : invalid(place, 'InvalidSpec', problem);
    }),
  );
}

function isUninspected({ inspected }: SubPath): boolean {
  return inspected === false;
}

/**
 * Attack: a call of a denied tool to `/Messages`, which is not inspected. A server that ignores case
 * serves `/messages` there, which is.
 */
function confusionProblem(
  subPath: SubPath,
  looselyRead: string,
  uninspected: ReadonlySet<string>,
): string | undefined {
  if (looselyRead === '') return 'is the MCP endpoint itself, or a server could take it for that';
  if (isUninspected(subPath) || !uninspected.has(looselyRead)) return undefined;
  return 'is inspected, but a server could take a path for it that is not inspected';
}

/**
 * Returns the function that reads a sub-path as a server does that ignores case, path parameters and a
 * final slash. The path of the endpoint at the upstream is not sent twice, so it is left out.
 */
function looseReader(serverPath: string): (path: string) => string {
  const ofEndpoint = loosely(serverPath);
  return (path) => {
    const read = loosely(path);
    const isBelow = read === ofEndpoint || read.startsWith(`${ofEndpoint}/`);
    return isBelow ? read.slice(ofEndpoint.length) : read;
  };
}

function loosely(path: string): string {
  return withoutFinalSlash(loosePath(path));
}
