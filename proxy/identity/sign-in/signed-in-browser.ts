import type { SessionCookieAuthenticator } from '../../authentication/session-cookie-authenticator.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import { sessionCookieName } from '../../http/cookies.ts';
import type { Session } from '../../records/session.ts';

/** A browser that is signed in at the host that received the request. */
export interface SignedInBrowser {
  /** Value of its session cookie. */
  readonly cookie: string;
  readonly session: Session;
}

/** Returns the browser that sent a request; undefined if it is not signed in at this host. */
export async function signedInBrowser(
  { cookies, origin }: Pick<EndpointContext, 'cookies' | 'origin'>,
  { sessionCookies }: { readonly sessionCookies: Pick<SessionCookieAuthenticator, 'callerOf'> },
): Promise<SignedInBrowser | undefined> {
  const cookie = cookies[sessionCookieName(origin)];
  if (cookie === undefined) return undefined;
  const caller = await sessionCookies.callerOf(cookie, origin);
  return caller?.kind === 'user' ? { cookie, session: caller.session } : undefined;
}
