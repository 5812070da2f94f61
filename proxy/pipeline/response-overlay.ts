import type { HeaderOverlay } from '../forwarding/response/response-headers.ts';
import { CROSS_ORIGIN_HEADERS } from '../http/cors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';

const REQUEST_ID = 'x-request-id';

const OWN_HEADERS: ReadonlySet<string> = new Set([REQUEST_ID]);

/** On MCP routes the gateway says who may read a response, not the upstream. */
const OWN_HEADERS_WITH_CORS: ReadonlySet<string> = new Set([
  REQUEST_ID,
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
]);

const CROSS_ORIGIN = Object.entries(CROSS_ORIGIN_HEADERS).flat();

/** What the gateway changes in the header of the upstream's response. */
export function responseOverlay(
  { compiled: { mcpServer } }: GatewayRoute,
  { id, message }: GatewayRequest,
): HeaderOverlay {
  const ofPage = mcpServer !== undefined && message.headers.origin !== undefined;
  return ofPage
    ? { remove: OWN_HEADERS_WITH_CORS, add: ['X-Request-Id', id, ...CROSS_ORIGIN] }
    : { remove: OWN_HEADERS, add: ['X-Request-Id', id] };
}
