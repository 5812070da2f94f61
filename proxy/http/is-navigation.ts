import type { GatewayRequest } from './gateway-request.ts';

/**
 * Tells a person's browser that wants a page from everything else: only the former is redirected
 * to sign-in or shown a page. Browsers say so themselves (Fetch Metadata); older ones by `Accept`.
 */
export function isNavigation({ method, message: { headers } }: GatewayRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  // A WebSocket handshake is a GET too, whatever it says that it accepts.
  return headers.upgrade === undefined && wantsPage(headers);
}

/** Whether errors should be pages: also after a form was posted. */
export function wantsPage(headers: NodeJS.Dict<string | string[]>): boolean {
  const mode = headers['sec-fetch-mode'];
  if (mode !== undefined) return mode === 'navigate';
  return String(headers['accept'] ?? '').includes('text/html');
}
