import { hashToken, randomToken } from '../../crypto/tokens.ts';
import { carriedTrace } from '../../http/carried-trace.ts';
import { sessionCookie, sessionCookieName } from '../../http/cookies.ts';
import { SignInFailedError } from '../../errors/authentication-errors.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import type { Session } from '../../records/session.ts';
import type { SignInOptions } from './sign-in-options.ts';

const SECOND = 1000;

/**
 * Signs the browser in at this host only, and returns the `Set-Cookie` value. Attack: session fixation. The
 * value of the cookie is always a new one, since an attacker may know an earlier one.
 */
export async function beginBrowserSession(
  session: Session,
  { origin, configuration, request }: Pick<EndpointContext, 'origin' | 'configuration' | 'request'>,
  { stores, now }: Pick<SignInOptions, 'stores' | 'now'>,
): Promise<string> {
  const provider = configuration.identityProviders.ofUser(session.identity);
  if (provider === undefined) {
    throw new SignInFailedError('other-provider', 'the identity provider of the session is gone');
  }
  const value = randomToken();
  const { trace } = carriedTrace(request);
  const browserSession = {
    sessionId: session.id,
    origin,
    ...(trace !== undefined && { signIn: { trace, endedAt: now() } }),
  };
  await stores.browserSessions.save(hashToken(value), browserSession, session.expiresAt);
  const maxAgeSeconds = Math.floor((session.expiresAt - now()) / SECOND);
  const name = sessionCookieName(origin, provider);
  const { sameSite } = configuration.settings.cookie;
  return sessionCookie(origin, value, { name, sameSite, maxAgeSeconds });
}
