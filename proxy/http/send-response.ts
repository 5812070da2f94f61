import { Buffer } from 'node:buffer';

import type { ClientResponse } from './client-response.ts';
import type { GatewayResponse } from './gateway-response.ts';

/** Status and length of a response that the gateway made and sent. */
export interface SentResponse {
  readonly status: number;
  /** Length of the body. */
  readonly bytes: number;
}

/**
 * Sends a response that the gateway made; to a HEAD request without its body. Returns undefined if nothing
 * could be sent, because another response had begun or the client has left.
 */
export function sendResponse(
  response: Pick<
    ClientResponse,
    'req' | 'headersSent' | 'destroyed' | 'destroy' | 'writeHead' | 'end'
  >,
  { status, headers, body }: GatewayResponse,
  requestId: string,
): SentResponse | undefined {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return undefined;
  }
  const length = Buffer.byteLength(body);
  const contentLength = status === 204 ? {} : { 'content-length': length };
  response.writeHead(status, { ...headers, ...contentLength, 'x-request-id': requestId });
  const isHead = response.req.method === 'HEAD';
  response.end(isHead ? undefined : body);
  return { status, bytes: isHead ? 0 : length };
}
