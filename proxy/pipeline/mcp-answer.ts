import type { AuthenticationContext } from '../authentication/authenticator.ts';
import { signsUsersIn } from '../authorization-server/resources.ts';
import { resourceIdentifier, resourcePath } from '../configuration/resource-identifier.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { isPreflight, preflightResponse } from '../http/cors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { isNavigation } from '../http/is-navigation.ts';
import { mcpServerPage } from '../pages/mcp-server-page.ts';

/** Fields that browsers never send when a person opens a URL. Some clients accept `text/html` too. */
const FIELDS_OF_CLIENTS = [
  'authorization',
  'mcp-session-id',
  'mcp-protocol-version',
  'origin',
] as const;

/**
 * Returns what the gateway itself answers at an MCP route: a CORS preflight, or the page for a person who opened
 * the URL in a browser; undefined for every other request, which is answered as the transport says.
 */
export function mcpAnswerFor(
  request: GatewayRequest,
  route: GatewayRoute,
  context: AuthenticationContext,
): GatewayResponse | undefined {
  const { headers } = request.message;
  return isPreflight(request.method, headers)
    ? preflightResponse(headers)
    : mcpPageFor(request, route, context);
}

function mcpPageFor(
  request: GatewayRequest,
  route: GatewayRoute,
  { origin, configuration }: AuthenticationContext,
): GatewayResponse | undefined {
  if (request.method !== 'GET' || !isNavigation(request)) return undefined;
  const { headers } = request.message;
  if (headers.accept?.includes('text/event-stream') === true) return undefined;
  if (FIELDS_OF_CLIENTS.some((name) => headers[name] !== undefined)) return undefined;
  const { compiled } = route;
  const path = resourcePath(compiled);
  if (request.path !== path && request.path !== `${path}/`) return undefined;
  const url = resourceIdentifier(compiled, origin);
  return mcpServerPage(url, signsUsersIn(route, configuration));
}
