import type { EndpointContext } from '../endpoints/endpoint.ts';
import { hasSessionCookie } from '../http/cookies.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import { readParameters } from '../http/read-parameters.ts';
import { continuePage } from '../pages/continue-page.ts';

/** Marks the request of a page of this host. It may be forged: it only keeps the page from being shown again. */
const CONTINUED = 'gatehouse_continued';

/**
 * Returns a page that opens this address, which has a query, once more, if the browser may have left out a
 * `SameSite=Strict` session cookie because it comes from another site. Otherwise each connection would begin with
 * a sign-in, whose session takes the place of the one in which another connection began.
 */
export function fromOwnPage({
  request,
  configuration,
  origin,
}: EndpointContext): GatewayResponse | undefined {
  if (configuration.settings.cookie.sameSite !== 'Strict') return undefined;
  if (hasSessionCookie(request.message, origin)) return undefined;
  if (readParameters(request.query).has(CONTINUED)) return undefined;
  return continuePage('Connecting', `${origin}${request.path}${request.query}&${CONTINUED}=1`);
}
