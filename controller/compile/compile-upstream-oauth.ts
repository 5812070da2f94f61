import type { Route } from '../../crds/types.ts';
import type { CompiledUpstreamOAuth } from '../../shared/snapshot/compiled-upstream-oauth.ts';
import { isLoopbackHost } from '../../shared/snapshot/loopback-host.ts';
import { memberPath } from '../validate/field-path.ts';
import { all, andThen, combine, made, invalid, type CompileResult } from './compile-result.ts';
import { resourceName } from './resources.ts';
import type { RouteContext } from './route-context.ts';
import { compileSecureUrl } from './secure-url.ts';

type Spec = Route['spec'];
type UpstreamOAuth = NonNullable<NonNullable<NonNullable<Spec['mcp']>['server']>['upstreamOauth2']>;
type Endpoint = NonNullable<UpstreamOAuth['endpoint']>;

const SERVER_PATH = 'spec.mcp.server';
const PATH = `${SERVER_PATH}.upstreamOauth2`;

/**
 * Parameters of an authorization request that the gateway sets, or that would replace or break what it
 * sets (RFC 6749, RFC 7636, RFC 8707, RFC 9101, RFC 9449, OpenID Connect), and secrets, which must not be
 * in the address of a browser.
 */
const PROTOCOL_PARAMETERS: ReadonlySet<string> = new Set([
  'client_assertion',
  'client_assertion_type',
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'dpop_jkt',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'resource',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);

/**
 * Compiles `mcp.server.upstreamOauth2`; undefined for routes without it. The client secret is resolved
 * separately, since that depends on the Secrets.
 */
export function compileUpstreamOAuth(
  route: Route,
  context: RouteContext,
): CompileResult<CompiledUpstreamOAuth | undefined> {
  const { upstreamOauth2: written, authorizationServerUrl } = route.spec.mcp?.server ?? {};
  if (written === undefined) return made(undefined);
  const { clientId, endpoint, scopes, resourceIndicator } = written;
  const parts = combine({
    endpoints: compileEndpoints(endpoint, context),
    authorizationParams: compileParameters(written),
    fallbackIssuer: compileUrl(
      authorizationServerUrl,
      `${SERVER_PATH}.authorizationServerUrl`,
      context,
    ),
    reachable: checkUpstream(route.spec, context),
  });
  return andThen(parts, ({ endpoints, authorizationParams, fallbackIssuer }) =>
    made({
      routeId: routeIdOf(route, context),
      ...(clientId !== undefined && { client: { id: clientId } }),
      ...(endpoint?.authStyle !== undefined && { authStyle: endpoint.authStyle }),
      ...(endpoints && { endpoints }),
      ...(scopes !== undefined && { scopes }),
      authorizationParams,
      sendsResource: resourceIndicator ?? true,
      ...(fallbackIssuer !== undefined && { fallbackIssuer }),
    }),
  );
}

/** A Route that was deleted and created again is another one. Files have nothing but the name. */
function routeIdOf(route: Route, { hasServices }: RouteContext): string {
  const { uid } = route.metadata;
  return hasServices && uid !== undefined ? uid : resourceName(route);
}

/** The schema of Route has both URLs or none. */
function compileEndpoints(
  { authUrl, tokenUrl }: Endpoint = {},
  context: RouteContext,
): CompileResult<CompiledUpstreamOAuth['endpoints']> {
  if (authUrl === undefined || tokenUrl === undefined) return made(undefined);
  const path = `${PATH}.endpoint`;
  return combine({
    authorizationUrl: andThen(compileUrl(authUrl, `${path}.authUrl`, context), () =>
      withoutProtocolParameters(authUrl, `${path}.authUrl`),
    ),
    tokenUrl: compileSecureUrl(tokenUrl, `${path}.tokenUrl`, context.devAllowLoopback),
  });
}

function withoutProtocolParameters(url: string, path: string): CompileResult<string> {
  const name = [...new URL(url).searchParams.keys()].find((one) => PROTOCOL_PARAMETERS.has(one));
  if (name === undefined) return made(url);
  return invalid(
    path,
    'UnsupportedValue',
    `must not have the parameter ${name}, which the protocol sets`,
  );
}

function compileParameters({
  authorizationUrlParams = {},
}: UpstreamOAuth): CompileResult<CompiledUpstreamOAuth['authorizationParams']> {
  const names = Object.keys(authorizationUrlParams).map((name) => {
    if (!PROTOCOL_PARAMETERS.has(name)) return made(name);
    const path = memberPath(`${PATH}.authorizationUrlParams`, name);
    return invalid(path, 'UnsupportedValue', 'cannot be set, because the protocol sets it');
  });
  return andThen(all(names), () => made(authorizationUrlParams));
}

function compileUrl(
  written: string | undefined,
  path: string,
  { devAllowLoopback }: RouteContext,
): CompileResult<string | undefined> {
  return written === undefined
    ? made(undefined)
    : compileSecureUrl(written, path, devAllowLoopback);
}

/** Discovery sends nobody to an authorization server that an upstream named in cleartext. */
function checkUpstream(
  { to = '', mcp }: Spec,
  { devAllowLoopback }: RouteContext,
): CompileResult<undefined> {
  const url = URL.parse(to);
  const isGiven = mcp?.server?.upstreamOauth2?.endpoint?.authUrl !== undefined;
  // What is wrong with `to` otherwise is reported there, and of `backendRefs` by the schema.
  if (isGiven || url?.protocol !== 'http:') return made(undefined);
  if (devAllowLoopback && isLoopbackHost(url.hostname)) return made(undefined);
  const message =
    'needs clientId, endpoint.authUrl and endpoint.tokenUrl with an http upstream, because discovery asks https upstreams only';
  return invalid(PATH, 'UnsupportedValue', message);
}
