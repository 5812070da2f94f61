import type { Route } from '../../crds/types.ts';
import type { Policy } from '../../shared/policy/policy.ts';
import type { Access, CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { compileAddress } from './compile-address.ts';
import { compileCredentials } from './compile-credentials.ts';
import { compileOrigins } from './compile-origins.ts';
import { compileMcpClient } from './compile-mcp-client.ts';
import { compileMcpServer } from './compile-mcp-server.ts';
import { durationMs } from './duration.ts';
import { isPublic } from './is-public.ts';
import { andThen, combine, made, invalid, type CompileResult } from './compile-result.ts';
import { compilePassedHeaders } from './compile-passed-headers.ts';
import { compilePathMatch } from './path-match.ts';
import { compilePolicy } from './policy/compile-policy.ts';
import { forbidMisplaced } from './policy/forbid-misplaced.ts';
import { resourceName, namespaceOf } from './resources.ts';
import type { RouteContext } from './route-context.ts';
import { compileUpstream } from './upstream.ts';

/** Limit of a compiled route as JSON, without its few backends. */
const MAX_ROUTE_BYTES = 1_048_576;
const DEFAULT_RESPONSE_TIMEOUT_MS = 60_000;

/**
 * Compiles one route, as a function of the route and the context only. Its `backendRefs` are resolved
 * separately, since that depends on the Services.
 */
export function compileRoute(route: Route, context: RouteContext): CompileResult<CompiledRoute> {
  const { spec } = route;
  const { hasServices } = context;
  const parts = combine({
    address: compileAddress(route, context),
    path: compilePathMatch(spec),
    upstream: compileUpstream(spec, { namespace: namespaceOf(route), hasServices }),
    access: compileAccess(spec, context),
    credentials: compileCredentials(spec, context),
    mcpServer: compileMcpServer(route, context),
    mcpClient: compileMcpClient(route, context),
    passedHeaders: compilePassedHeaders(spec),
    websocketOrigins: compileOrigins(
      spec.websocketAllowedOrigins ?? [],
      'spec.websocketAllowedOrigins',
    ),
  });
  return andThen(
    parts,
    ({ address, path, upstream, access, credentials, mcpServer, passedHeaders, ...rest }) =>
      withinLimit({
        kind: 'route' as const,
        name: resourceName(route),
        ...address,
        path,
        upstream,
        access,
        ...credentials,
        ...(mcpServer && { mcpServer }),
        ...(rest.mcpClient && { mcpClient: rest.mcpClient }),
        allowWebsockets: spec.allowWebsockets ?? false,
        ...(rest.websocketOrigins.length > 0 && { websocketOrigins: rest.websocketOrigins }),
        ...passedHeaders,
        responseTimeoutMs: responseTimeoutMs(spec),
      }),
  );
}

/** Proxies close a connection that delivers a larger resource than they accept. */
function withinLimit(route: CompiledRoute): CompileResult<CompiledRoute> {
  if (Buffer.byteLength(JSON.stringify(route)) <= MAX_ROUTE_BYTES) return made(route);
  const message = `is too large: it compiles to more than ${String(MAX_ROUTE_BYTES)} bytes`;
  return invalid('spec', 'UnsupportedValue', message);
}

function compileAccess(
  spec: Route['spec'],
  { missingSettings }: RouteContext,
): CompileResult<Access> {
  if (missingSettings !== undefined) {
    const message = `there is no ${missingSettings}, and without it no route serves`;
    return invalid('', 'SettingsNotFound', message);
  }
  if (isPublic(spec)) return made({ kind: 'public' });
  return andThen(compileRoutePolicy(spec), (policy) =>
    made({
      kind: 'policy',
      policy: spec.allowAnyAuthenticatedUser === true ? withAnyUser(policy) : policy,
    }),
  );
}

function compileRoutePolicy({ policy, mcp }: Route['spec']): CompileResult<Policy> {
  if (policy === undefined) return made({});
  const kind = mcp?.server === undefined ? 'web' : 'mcp';
  return andThen(compilePolicy(policy, 'spec.policy'), (whole) =>
    forbidMisplaced(whole, kind, 'spec.policy'),
  );
}

/** Adds a criterion to `or`: the groups of a block combine by OR, so that it allows more users. */
function withAnyUser({ allow, ...rest }: Policy): Policy {
  const or = [...(allow?.or ?? []), { kind: 'authenticated_user' } as const];
  return { ...rest, allow: { ...allow, or } };
}

/** MCP servers may take long to respond, so that they have no timeout unless one is set. */
function responseTimeoutMs({ mcp, timeouts }: Route['spec']): number {
  if (timeouts?.request !== undefined) return durationMs(timeouts.request);
  return mcp?.server === undefined ? DEFAULT_RESPONSE_TIMEOUT_MS : 0;
}
