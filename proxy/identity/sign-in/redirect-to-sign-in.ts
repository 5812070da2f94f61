import type { Sealer } from '../../crypto/sealer.ts';
import { readCookies } from '../../http/cookies.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { seeOther } from '../../http/responses.ts';
import { authenticateOriginFor } from './authenticate-host.ts';
import { bindBrowser } from './login-cookies.ts';
import { safeReturnPath } from './return-path.ts';
import { SIGN_IN_PATHS } from '../../endpoints/sign-in-paths.ts';
import { sealSignInRequest } from './sign-in-request.ts';

/** How long a browser may take from a route host to the authenticate host. */
const REQUEST_LIFETIME = 10 * 60 * 1000;

/**
 * Sends a browser to sign in; afterwards it comes back to `returnPath` on the host it is at.
 *
 * A cookie ties the sign-in to this browser, so that nobody can make another browser end it and so
 * act as a user it did not choose (login CSRF; RFC 6749, section 10.12).
 */
export function redirectToSignIn(
  context: Pick<EndpointContext, 'request' | 'configuration' | 'origin'>,
  returnPath: string,
  { sealer, now }: { readonly sealer: Sealer; readonly now: () => number },
): GatewayResponse {
  const { origin, request } = context;
  const audience = authenticateOriginFor(context);
  const { hash, setCookies } = bindBrowser(origin, readCookies(request.message));
  const sealed = sealSignInRequest(
    {
      targetOrigin: origin,
      returnPath: safeReturnPath(returnPath),
      preLoginHash: hash,
      expiresAt: now() + REQUEST_LIFETIME,
    },
    audience,
    sealer,
  );
  const location = `${audience}${SIGN_IN_PATHS.signIn}?request=${sealed}`;
  return seeOther(location, { 'set-cookie': [...setCookies] });
}
