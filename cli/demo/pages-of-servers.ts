import type { IncomingMessage, ServerResponse } from 'node:http';

import type { GatewayResponse } from '../../proxy/http/gateway-response.ts';

/** Sends a page. */
export function sendPage(
  response: ServerResponse,
  { status, headers, body }: GatewayResponse,
): void {
  response.writeHead(status, headers).end(body);
}

/**
 * Removes cookies whose names begin so. Without its session cookie, a provider asks each time who signs in: users of the
 * demo switch between people without signing out.
 */
export function withoutCookies(request: IncomingMessage, prefix: string): void {
  const cookies = request.headers.cookie?.split('; ') ?? [];
  request.headers.cookie = cookies.filter((cookie) => !cookie.startsWith(prefix)).join('; ');
}
