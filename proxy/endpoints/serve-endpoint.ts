import { MethodNotAllowedError } from '../errors/routing-errors.ts';
import { readCookies } from '../http/cookies.ts';
import { CROSS_ORIGIN_HEADERS, isPreflight, preflightResponse } from '../http/cors.ts';
import type { Endpoint, EndpointContext } from './endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';

/** Answers a request to one of the gateway's own endpoints. HEAD is served as GET. */
export async function serveEndpoint(
  endpoint: Endpoint,
  request: GatewayRequest,
  context: Pick<EndpointContext, 'origin' | 'configuration'>,
): Promise<GatewayResponse> {
  const { headers } = request.message;
  if (endpoint.crossOrigin && isPreflight(request.method, headers)) {
    return preflightResponse(headers);
  }
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (!endpoint.methods.some((allowed) => allowed === method)) {
    throw new MethodNotAllowedError(endpoint.methods);
  }
  const cookies = readCookies(request.message);
  const response = await endpoint.handle({ request, cookies, ...context });
  if (endpoint.audience === 'page') return apartFromOpener(response, request, context);
  if (!endpoint.crossOrigin) return response;
  return { ...response, headers: { ...CROSS_ORIGIN_HEADERS, ...response.headers } };
}

/**
 * Cuts a page off from the window that opened it, on hosts with web routes. Attack: a script of a web route
 * opens the consent page, and changes or clicks it. Elsewhere windows stay connected: there are clients that
 * open one and wait for its answer. A redirect stays connected too, for no script can act on it.
 */
function apartFromOpener(
  response: GatewayResponse,
  { authority }: GatewayRequest,
  { configuration }: Pick<EndpointContext, 'configuration'>,
): GatewayResponse {
  const host = configuration.routes.findHost(authority);
  const hasWebRoutes = host !== undefined && host.mcpServers.length < host.routes.length;
  if (!hasWebRoutes || response.body === '') return response;
  const headers = { ...response.headers, 'cross-origin-opener-policy': 'same-origin' };
  return { ...response, headers };
}
