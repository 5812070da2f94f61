import type { HostRoutes } from '../configuration/routing-table.ts';
import { UNREADABLE_URL } from '../http/unreadable-url.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';

/**
 * Cuts a page off from the window that opened it, on hosts with web routes. Attack: a script of a web route
 * opens the consent page, and changes or clicks it. Elsewhere windows stay connected: there are clients that
 * open one and wait for its answer. A redirect stays connected too, for no script can act on it.
 *
 * Attack: a script has the user continue a sign-in that the attacker began, reads the provider's code from
 * the URL of the error page, and ends the sign-in as that user. So error pages are cut off as well.
 */
export function apartFromOpener(
  response: GatewayResponse,
  host: HostRoutes | undefined,
): GatewayResponse {
  const hasWebRoutes = host !== undefined && host.mcpServers.length < host.routes.length;
  if (!hasWebRoutes || response.body === '') return response;
  return withUnreadableUrl(response);
}

/** Keeps scripts of the host from reading the URL of a response. */
export function withUnreadableUrl(response: GatewayResponse): GatewayResponse {
  return { ...response, headers: { ...response.headers, ...UNREADABLE_URL } };
}
