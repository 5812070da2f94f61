import type { OutgoingHttpHeaders } from 'node:http';

import type { GatewayResponse } from './gateway-response.ts';

/** Returns a JSON response; not cached unless `headers` allows it. */
export function json(
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): GatewayResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(body),
  };
}

/** Returns a redirect by GET (303: a posted body is not sent again, RFC 9700, section 4.12). */
export function seeOther(location: string, headers: OutgoingHttpHeaders = {}): GatewayResponse {
  return {
    status: 303,
    headers: {
      location,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      ...headers,
    },
    body: '',
  };
}

/** Returns the response with these `Set-Cookie` values too. */
export function withCookies(
  response: GatewayResponse,
  setCookies: readonly string[],
): GatewayResponse {
  const before = response.headers['set-cookie'];
  const all = [before ?? []].flat().map(String).concat(setCookies);
  return { ...response, headers: { ...response.headers, 'set-cookie': all } };
}
