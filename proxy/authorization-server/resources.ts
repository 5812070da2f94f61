import { InvalidTargetError } from '../errors/oauth-errors.ts';
import { RouteNotFoundError } from '../errors/routing-errors.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import type { IdentityProviders } from '../configuration/identity-providers.ts';
import { isSignInProvider } from '../identity-provider/require-identity-provider.ts';
import { isReservedPath } from '../../shared/paths/reserved-path.ts';
import { resourceIdentifier } from '../configuration/resource-identifier.ts';
import type { GatewayRoute, HostRoutes } from '../configuration/routing-table.ts';
import { withoutSlash } from './resource-path.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/** An absolute URL of visible characters, without fragment: all parsers read it alike. */
const RESOURCE = /^https?:\/\/[\x21\x22\x24-\x5b\x5d-\x7e]+$/i;

const MAX_RESOURCE_LENGTH = 2048;

/** Returns the MCP route of a path without a slash at its end: its own path or one below it. */
export function mcpRouteAt(host: HostRoutes, path: string): GatewayRoute | null {
  if (isReservedPath(path)) return null;
  const route = host.mcpServersByPath.get(path) ?? host.matchPath(path === '' ? '/' : path);
  return route?.compiled.mcpServer === undefined ? null : route;
}

/**
 * Returns the canonical identifier of the MCP route that the `resource` parameter of a request names, by
 * the route's URL or one below it. Null if the parameter is absent.
 *
 * The case of scheme and host, the default port and a slash at the end make no difference.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc8707#section-2 RFC 8707, section 2}
 */
function requestedResource(parameters: URLSearchParams, issuer: Issuer): string | null {
  const values = parameters.getAll('resource').filter((value) => value !== '');
  const [value] = values;
  if (value === undefined) return null;
  if (values.length > 1) throw new InvalidTargetError('one resource at a time');
  const route = findRoute(value, issuer);
  if (route === null) {
    throw new InvalidTargetError('the resource is not an MCP server of this authorization server');
  }
  return resourceIdentifier(route.compiled, issuer.origin);
}

/** Refuses a token request for a resource that is not the grant's (RFC 8707, section 2.2). */
export function refuseOtherResource(
  granted: string,
  parameters: URLSearchParams,
  issuer: Issuer,
): void {
  const resource = requestedResource(parameters, issuer) ?? granted;
  if (resource !== granted) throw new InvalidTargetError('the resource is not the one granted');
}

/**
 * Returns the resource of an authorization request. Refuses one that nobody can sign in for: the user would be
 * sent to a page that can only fail.
 */
export function authorizableResource(parameters: URLSearchParams, issuer: Issuer): string {
  const resource = requestedResource(parameters, issuer) ?? onlyResource(issuer);
  const route = routeOfResource(resource, issuer);
  if (route !== undefined && signsUsersIn(route, issuer)) return resource;
  throw new InvalidTargetError(`nobody can sign in for this resource: ${ONLY_OTHER_TOKENS}`);
}

/** Why there is no sign-in: compilation refuses every other route without it. */
export const ONLY_OTHER_TOKENS = 'it accepts only tokens of identity providers';

/**
 * Returns whether users can sign in for an MCP route. If they cannot, it is for machines, which have tokens of
 * an identity provider.
 */
export function signsUsersIn(
  { compiled }: GatewayRoute,
  { identityProviders }: Pick<Issuer, 'identityProviders'>,
): boolean {
  return isSignInProvider(identityProviders.ofRoute(compiled));
}

/** Returns whether users can sign in for some MCP route of an issuer. */
export function isAuthorizationServer(issuer: Issuer): boolean {
  return issuer.host.mcpServers.some((route) => signsUsersIn(route, issuer));
}

/** Returns the resource of a request without the parameter: the only MCP route of the host. */
function onlyResource({ host, origin }: Issuer): string {
  const [only, another] = host.mcpServers;
  if (only === undefined || another !== undefined) {
    throw new InvalidTargetError('resource is missing, and the host has more than one');
  }
  return resourceIdentifier(only.compiled, origin);
}

/** One authorization server: a route host under one origin. */
export interface Issuer {
  readonly origin: Origin;
  readonly host: HostRoutes;
  readonly identityProviders: IdentityProviders;
}

/** Returns the authorization server that received a request. */
export function issuerOf({ origin, request, configuration }: EndpointContext): Issuer {
  const host = configuration.routes.findHost(request.authority);
  if (host === undefined) throw new RouteNotFoundError(421, 'no route for this host');
  return { origin, host, identityProviders: configuration.identityProviders };
}

/** Returns the MCP route with a resource identifier at an issuer; undefined if it is gone. */
export function routeOfResource(
  resource: string,
  { host, origin }: Pick<Issuer, 'host' | 'origin'>,
): GatewayRoute | undefined {
  return host.mcpServers.find(({ compiled }) => resourceIdentifier(compiled, origin) === resource);
}

function findRoute(resource: string, { host, origin }: Issuer): GatewayRoute | null {
  if (resource.length > MAX_RESOURCE_LENGTH || !RESOURCE.test(resource)) return null;
  const url = URL.parse(resource);
  if (url?.origin !== origin || url.username !== '' || url.password !== '') return null;
  return mcpRouteAt(host, withoutSlash(url.pathname));
}
