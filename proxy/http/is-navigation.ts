import type { GatewayRequest } from './gateway-request.ts';
import type { RequestFields } from './request-fields.ts';

/**
 * Returns whether a browser wants a page for a person. Only such requests are redirected to sign in or
 * answered with a page. Browsers send `Sec-Fetch-Mode`; older ones are recognised by `Accept`.
 */
export function isNavigation({ method, message: { headers } }: GatewayRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  // A WebSocket handshake is a GET too, whatever its `Accept`.
  return headers.upgrade === undefined && wantsPage(headers);
}

/** Returns whether errors should be pages: also after a form was posted. */
export function wantsPage(headers: RequestFields): boolean {
  const mode = headers['sec-fetch-mode'];
  if (mode !== undefined) return mode === 'navigate';
  return (headers.accept ?? '').includes('text/html');
}
