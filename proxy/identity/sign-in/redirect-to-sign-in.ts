import type { Sealer } from '../../crypto/sealer.ts';
import { carriedTrace } from '../../http/carried-trace.ts';
import { bindBrowser } from '../../http/browser-binding.ts';
import { readCookies } from '../../http/cookies.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { seeOther } from '../../http/responses.ts';
import { authenticateOriginFor } from './authenticate-host.ts';
import { safeReturnPath } from './return-path.ts';
import { PATHS } from '../../endpoints/paths.ts';
import { sealSignInRequest } from './sign-in-request.ts';

/** How long a browser may take from a route host to the authenticate host, in milliseconds. */
const REQUEST_LIFETIME = 10 * 60 * 1000;

/** Where a user signs in, and what follows. */
export interface WantedSignIn {
  /** Path and query on the host that the browser came from, to which it returns. */
  readonly returnPath: string;
  /** Name of the identity provider; undefined for the one with `signIn`. */
  readonly provider: string | undefined;
}

/** Redirects a browser to sign in. */
export type RedirectToSignIn = (
  context: Pick<EndpointContext, 'request' | 'configuration' | 'origin'>,
  wanted: WantedSignIn,
) => GatewayResponse;

/**
 * See `RedirectToSignIn`.
 *
 * Attack: login CSRF (RFC 6749, section 10.12). A cookie binds the sign-in to this browser, so that an
 * attacker cannot make another browser finish it and sign that browser in as a different user.
 */
export function redirectToSignIn(
  context: Parameters<RedirectToSignIn>[0],
  { returnPath, provider }: WantedSignIn,
  { sealer, now }: { readonly sealer: Sealer; readonly now: () => number },
): GatewayResponse {
  const { origin, request } = context;
  const audience = authenticateOriginFor(context);
  const { hash, setCookies } = bindBrowser(origin, readCookies(request.message), 'sign-in');
  const sealed = sealSignInRequest(
    {
      targetOrigin: origin,
      returnPath: safeReturnPath(returnPath),
      targetHash: hash,
      expiresAt: now() + REQUEST_LIFETIME,
      provider,
      ...carriedTrace(request),
    },
    audience,
    sealer,
  );
  const location = `${audience}${PATHS.signIn}?request=${sealed}`;
  return seeOther(location, { 'set-cookie': [...setCookies] });
}
