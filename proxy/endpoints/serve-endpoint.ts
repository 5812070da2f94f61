import { MethodNotAllowedError } from '../errors/routing-errors.ts';
import { readCookies } from '../http/cookies.ts';
import { CROSS_ORIGIN_HEADERS, isPreflight, preflightResponse } from '../http/cors.ts';
import type { Endpoint } from './endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/** Answers a request to one of the gateway's own endpoints. HEAD is served as GET. */
export async function serveEndpoint(
  endpoint: Endpoint,
  request: GatewayRequest,
  at: { readonly origin: Origin; readonly configuration: Configuration },
): Promise<GatewayResponse> {
  const { headers } = request.message;
  if (endpoint.crossOrigin && isPreflight(request.method, headers)) {
    return preflightResponse(headers);
  }
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (!endpoint.methods.some((allowed) => allowed === method)) {
    throw new MethodNotAllowedError(endpoint.methods);
  }
  const response = await endpoint.handle({ request, cookies: readCookies(request.message), ...at });
  if (!endpoint.crossOrigin) return response;
  return { ...response, headers: { ...CROSS_ORIGIN_HEADERS, ...response.headers } };
}
