import { originOf } from '../../shared/snapshot/origin.ts';
import type { EndpointContext } from '../endpoints/endpoint.ts';
import { RouteNotFoundError } from '../errors/routing-errors.ts';
import { carriedTrace } from '../http/carried-trace.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { seeOther } from '../http/responses.ts';
import { mcpServersOf } from '../mcp-applications/mcp-servers.ts';
import { couldUseRoute } from '../configuration/could-use-route.ts';
import type { Identity } from '../records/session.ts';
import type { AccountOptions } from './account-options.ts';

/** Sends a user to connect the MCP server with this URL, and back to the page afterwards. */
export function connectServer(
  url: string,
  identity: Identity,
  { configuration, request }: EndpointContext,
  { connectLinks }: Pick<AccountOptions, 'connectLinks'>,
): GatewayResponse {
  const route = mcpServersOf(configuration.routes).byUrl.get(url)?.route;
  const upstreamOAuth = route?.compiled.mcpServer?.upstreamOAuth;
  const isUsable = route !== undefined && couldUseRoute(identity, route, configuration);
  if (!isUsable || upstreamOAuth === undefined) {
    throw new RouteNotFoundError(404, 'there is no such MCP server to connect');
  }
  const link = {
    user: identity,
    routeId: upstreamOAuth.routeId,
    returnTo: { kind: 'account' },
    ...carriedTrace(request),
  } as const;
  return seeOther(connectLinks.urlFor(link, originOf(route.compiled)));
}
