import type { ClientResponse } from './client-response.ts';
import type { GatewayResponse } from './gateway-response.ts';

/** Sends a whole response of the gateway's own; to a HEAD request without its body. */
export function sendResponse(
  response: Pick<
    ClientResponse,
    'req' | 'headersSent' | 'destroyed' | 'destroy' | 'writeHead' | 'end'
  >,
  { status, headers, body }: GatewayResponse,
  requestId: string,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const length = Buffer.byteLength(body);
  const contentLength = status === 204 ? {} : { 'content-length': length };
  response.writeHead(status, { ...headers, ...contentLength, 'x-request-id': requestId });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
