import { hashToken, randomToken } from '../../crypto/tokens.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { GatewayResponse } from '../../http/gateway-response.ts';
import { carriedTrace } from '../../http/carried-trace.ts';
import { networksOf } from '../../http/network-of.ts';
import { seeOther } from '../../http/responses.ts';
import { continuePage } from '../../pages/continue-page.ts';
import type { Session } from '../../records/session.ts';
import { PATHS } from '../../endpoints/paths.ts';
import type { SignInRequest } from './sign-in-request.ts';
import type { SignInOptions } from './sign-in-options.ts';

const CODE_LIFETIME_SECONDS = 60;

/** The page at which a sign-in ends, and the browser that may continue there. */
export type SignInTarget = Pick<SignInRequest, 'targetOrigin' | 'returnPath' | 'targetHash'>;

type Here = Pick<EndpointContext, 'origin' | 'configuration' | 'request'>;

/**
 * Sends a browser that is signed in at this host to its target. A target on another host gets a single-use
 * code that is valid only there, and only for the browser that began there.
 */
export async function finishSignIn(
  session: Session,
  target: SignInTarget,
  here: Here,
  { stores }: Pick<SignInOptions, 'stores'>,
): Promise<GatewayResponse> {
  const { targetOrigin, returnPath, targetHash } = target;
  if (targetOrigin === here.origin) return sendToPath(here, returnPath);
  const code = randomToken();
  await stores.signInCodes.save(
    hashToken(code),
    { sessionId: session.id, targetOrigin, returnPath, targetHash, ...carriedTrace(here.request) },
    CODE_LIFETIME_SECONDS,
    networksOf(here.request.remoteAddress).endSite,
  );
  return seeOther(`${targetOrigin}${PATHS.callback}?sign_in_code=${code}`);
}

/** Sends the browser to a path of this host, by an absolute URL: the path cannot name another host. */
export function sendToPath({ origin, configuration }: Here, returnPath: string): GatewayResponse {
  const url = origin + returnPath;
  const { sameSite } = configuration.settings.cookie;
  return sameSite === 'Strict' ? continuePage('You are signed in', url) : seeOther(url);
}
