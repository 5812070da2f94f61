import type { GatewayRequest } from '../http/gateway-request.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import type { MatchedHost } from './match-host.ts';

/**
 * Redirects a request without TLS to its https origin, with its method and its body (308). Undefined if it
 * may stay as it is.
 *
 * The target is the origin of a route, or of the sign-in host, and never the `Host` of the request.
 */
export function redirectToHttps(
  request: Pick<GatewayRequest, 'method' | 'path' | 'query'>,
  { origin, lacksTls = false }: MatchedHost,
): GatewayResponse | undefined {
  if (!lacksTls || isAcmeChallenge(request)) return undefined;
  return {
    status: 308,
    headers: {
      location: `${origin}${request.path}${request.query}`,
      // TLS may end elsewhere tomorrow.
      'cache-control': 'no-store',
    },
    body: '',
  };
}

/**
 * RFC 8555, section 8.3: an authority asks without TLS whether the gateway's operator has the host, before
 * there is a certificate. The last segment is a token of these characters.
 */
const ACME_CHALLENGE = /^\/\.well-known\/acme-challenge\/[\w-]+$/;

function isAcmeChallenge({ method, path }: Pick<GatewayRequest, 'method' | 'path'>): boolean {
  return (method === 'GET' || method === 'HEAD') && ACME_CHALLENGE.test(path);
}
