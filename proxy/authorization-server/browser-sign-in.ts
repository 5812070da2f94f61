import type { EndpointContext } from '../endpoints/endpoint.ts';
import type { GatewayResponse } from '../http/gateway-response.ts';
import type { Caller } from '../authentication/caller.ts';

/** The signed-in user of a browser, as far as the authorization server needs to know. */
export interface BrowserSignIn {
  /** Whose session cookie this is on an origin; null when nobody's. */
  authenticate(cookieValue: string, origin: string): Caller | null | Promise<Caller | null>;
  /** Sends the browser to sign in; afterwards it comes back to `returnPath` on this origin. */
  redirectToSignIn(
    context: EndpointContext,
    returnPath: string,
  ): GatewayResponse | Promise<GatewayResponse>;
}
