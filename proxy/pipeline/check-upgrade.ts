import { isOrigin, type Origin } from '../../shared/snapshot/origin.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { ForbiddenError, OriginNotAllowedError } from '../errors/denial-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';

/**
 * Refuses WebSockets where the route does not allow them, and from pages of foreign origins. Messages on
 * a WebSocket are not inspected, so on an MCP route they would bypass the policy.
 *
 * Attack: browsers let any page open a WebSocket anywhere, with the cookies of the user, and read its
 * messages (RFC 6455, section 10.2). `SameSite` does not stop pages of sibling hosts. Programs that are
 * not browsers send no `Origin`.
 */
export function checkUpgrade(
  { message }: Pick<GatewayRequest, 'message'>,
  { compiled: { allowWebsockets, mcpServer, websocketOrigins = [] } }: GatewayRoute,
  own: Origin,
): void {
  if (!allowWebsockets || mcpServer !== undefined) throw new ForbiddenError('no-websockets');
  const { rawHeaders } = message;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== 'origin') continue;
    const sent = rawHeaders[index + 1] ?? '';
    const origin = normalOrigin(sent);
    const isAllowed = [own, ...websocketOrigins].some(
      (allowed) => normalOrigin(allowed) === origin,
    );
    if (origin === undefined || !isAllowed) throw new OriginNotAllowedError(sent);
  }
}

/** Returns an origin as browsers spell it; undefined if it is not one of http or https, such as `null`. */
function normalOrigin(text: string): string | undefined {
  const lower = text.toLowerCase();
  return isOrigin(lower) ? URL.parse(lower)?.origin : undefined;
}
