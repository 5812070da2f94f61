import type { GatewayRoute, HostRoutes } from '../configuration/routing-table.ts';
import { withoutFinalSlash } from '../../shared/paths/without-final-slash.ts';
import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import { ConnectionPageError } from '../errors/connection-errors.ts';
import { RouteNotFoundError } from '../errors/routing-errors.ts';
import { readParameters } from '../http/read-parameters.ts';
import type { UserReference } from '../records/user-key.ts';
import type { ConnectEndpointOptions } from './connect-endpoint-options.ts';
import type { LinkReturn } from './connect-links.ts';
import { readReturnUrl } from './return-url.ts';

/** What a request asks to connect. */
export interface ConnectRequest {
  readonly route: GatewayRoute;
  /** The only user who may; undefined if the link is for everybody. */
  readonly user: UserReference | undefined;
  readonly returnTo: LinkReturn | { readonly kind: 'redirect'; readonly url: string };
  /** See `ConnectLink`. */
  readonly trace?: TraceContext;
}

const PARAMETERS = ['redirect_url', 'resource', 'link'];

/**
 * Reads a request to connect: a link of the gateway's own, or `redirect_url` and perhaps `resource`. Throws
 * a `ConnectionPageError`.
 */
export function readConnectRequest(
  context: EndpointContext,
  options: Pick<ConnectEndpointOptions, 'connectLinks' | 'devAllowLoopback'>,
): ConnectRequest {
  const { configuration, request, origin } = context;
  const host = configuration.routes.findHost(request.authority);
  if (host === undefined || host.mcpServers.length === 0) {
    throw new RouteNotFoundError(404, 'the host has no MCP server');
  }
  const parameters = readParameters(request.query);
  if (PARAMETERS.some((name) => parameters.getAll(name).length > 1)) {
    throw malformed('One of its parameters is there twice.');
  }
  const link = parameters.get('link');
  return link === null
    ? fromApplication(parameters, host, context, options)
    : fromLink(link, host, origin, options);
}

function fromLink(
  text: string,
  host: HostRoutes,
  origin: Origin,
  { connectLinks }: Pick<ConnectEndpointOptions, 'connectLinks'>,
): ConnectRequest {
  const link = connectLinks.open(text, origin);
  if (link === null) throw malformed('The gateway did not make it, or made it for another host.');
  if (link.isExpired) {
    throw new ConnectionPageError(
      'expired-connect-link',
      'This link has expired. Go back to your application, and try again.',
    );
  }
  const route = host.mcpServers.find(
    ({ compiled }) => compiled.mcpServer?.upstreamOAuth?.routeId === link.routeId,
  );
  if (route === undefined) {
    throw new ConnectionPageError(
      'connect-route-gone',
      'The MCP server of this link is not there any more, or needs no connection now.',
    );
  }
  const { user, returnTo, trace } = link;
  return { route, user, returnTo, ...(trace !== undefined && { trace }) };
}

function fromApplication(
  parameters: URLSearchParams,
  host: HostRoutes,
  { configuration: { routes }, origin }: EndpointContext,
  { devAllowLoopback }: Pick<ConnectEndpointOptions, 'devAllowLoopback'>,
): ConnectRequest {
  const text = parameters.get('redirect_url') ?? '';
  const url = readReturnUrl(text, { routes, devAllowLoopback });
  if (url === null) {
    throw new ConnectionPageError(
      'redirect-url-not-allowed',
      'The application did not say where to return (redirect_url), or named an address that is not of an application of this gateway. Nothing was connected.',
    );
  }
  const route = routeAt(parameters.get('resource'), host, origin);
  return { route, user: undefined, returnTo: { kind: 'redirect', url } };
}

/**
 * Returns the MCP server that `resource` names by its URL. Without it: the only one of the host, or the only
 * one that users connect.
 */
function routeAt(resource: string | null, host: HostRoutes, origin: Origin): GatewayRoute {
  if (resource !== null) {
    const url = URL.parse(resource);
    const path = url?.origin === origin ? withoutFinalSlash(url.pathname) : undefined;
    const route = path === undefined ? undefined : host.mcpServersByPath.get(path);
    if (route !== undefined) return route;
    throw malformed('Its resource is not the URL of an MCP server of this host.');
  }
  const { mcpServers } = host;
  const toConnect = mcpServers.filter(({ compiled }) => compiled.mcpServer?.upstreamOAuth);
  const [only, another] = toConnect.length === 0 ? mcpServers : toConnect;
  if (only !== undefined && another === undefined) return only;
  throw malformed('This host has several MCP servers, so it must name the URL of one (resource).');
}

function malformed(detail: string): ConnectionPageError {
  return new ConnectionPageError('invalid-connect-request', `This link is not valid. ${detail}`);
}
