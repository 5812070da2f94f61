import type { RelayPlan } from '../forwarding/response/response-plan.ts';
import { CROSS_ORIGIN_HEADERS } from '../http/cors.ts';
import type { Permit } from './permit.ts';

const REQUEST_ID = 'x-request-id';

const OWN_HEADERS: ReadonlySet<string> = new Set([REQUEST_ID]);

/** On MCP routes the gateway decides which pages may read a response, not the upstream. */
const OWN_HEADERS_WITH_CORS: ReadonlySet<string> = new Set([
  REQUEST_ID,
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
]);

const CROSS_ORIGIN = Object.entries(CROSS_ORIGIN_HEADERS).flat();

/**
 * Decides what happens with the upstream's response to a permitted request, before its first byte
 * reaches the client: it is relayed, with the gateway's own header fields.
 */
export function planResponse({ request, route }: Permit): RelayPlan {
  const { id, message } = request;
  const isCrossOriginCall =
    route.compiled.mcpServer !== undefined && message.headers.origin !== undefined;
  const headers = isCrossOriginCall
    ? { remove: OWN_HEADERS_WITH_CORS, add: ['X-Request-Id', id, ...CROSS_ORIGIN] }
    : { remove: OWN_HEADERS, add: ['X-Request-Id', id] };
  return { kind: 'relay', headers };
}
