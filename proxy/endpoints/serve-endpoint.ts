import { withJoiningTrace } from '../../shared/telemetry/tracing/active-trace.ts';
import { MethodNotAllowedError } from '../errors/routing-errors.ts';
import { readCookies } from '../http/cookies.ts';
import { CROSS_ORIGIN_HEADERS, isPreflight, preflightResponse } from '../http/cors.ts';
import { apartFromOpener } from './apart-from-opener.ts';
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
  const response = await withJoiningTrace(request.trace, () =>
    endpoint.handle({ request, cookies, ...context }),
  );
  if (endpoint.audience === 'page') {
    return apartFromOpener(response, context.configuration.routes.findHost(request.authority));
  }
  if (!endpoint.crossOrigin) return response;
  return { ...response, headers: { ...CROSS_ORIGIN_HEADERS, ...response.headers } };
}
