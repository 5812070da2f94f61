import type { GatewayResponse } from './gateway-response.ts';
import type { RequestFields } from './request-fields.ts';

/**
 * Allows pages of any origin to call, never with credentials. `*` does not cover `Authorization`
 * (Fetch, section 3.3.3), so every header is listed.
 */
const PREFLIGHT_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers':
    'authorization, content-type, accept, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, traceparent, tracestate',
  'access-control-max-age': '7200',
  'cache-control': 'no-store',
} as const;

/** Header fields that allow a page of any origin to read a response. */
export const CROSS_ORIGIN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'www-authenticate, mcp-session-id, mcp-protocol-version, retry-after, x-request-id',
} as const;

/** Returns whether a request is a preflight: `OPTIONS` with an `Origin` and the method to come. */
export function isPreflight(method: string, headers: RequestFields): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/**
 * Returns the answer to a preflight. Only the server of a tool knows the names of the headers that
 * mirror its arguments (`Mcp-Param-*`), so all requested ones are allowed.
 */
export function preflightResponse(headers: RequestFields): GatewayResponse {
  const mirrored = (headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => /^mcp-param-[\w-]+$/.test(name));
  const allowed = [PREFLIGHT_HEADERS['access-control-allow-headers'], ...mirrored].join(', ');
  return {
    status: 204,
    headers: { ...PREFLIGHT_HEADERS, 'access-control-allow-headers': allowed },
    body: '',
  };
}
