import { hashToken, randomToken } from '../../crypto/tokens.ts';
import { sessionCookie } from '../../http/cookies.ts';
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
  { origin, configuration: { settings } }: Pick<EndpointContext, 'origin' | 'configuration'>,
  { stores, now }: Pick<SignInOptions, 'stores' | 'now'>,
): Promise<string> {
  const value = randomToken();
  const browserSession = { sessionId: session.id, origin };
  await stores.browserSessions.save(hashToken(value), browserSession, session.expiresAt);
  const maxAgeSeconds = Math.floor((session.expiresAt - now()) / SECOND);
  return sessionCookie(origin, value, { sameSite: settings.cookie.sameSite, maxAgeSeconds });
}
