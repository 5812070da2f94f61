import type { SessionCookieAuthenticator } from '../../authentication/session-cookie-authenticator.ts';
import type { EndpointContext } from '../../endpoints/endpoint.ts';
import { isUserOf } from '../../configuration/identity-providers.ts';
import { sessionCookieName } from '../../http/cookies.ts';
import type { CompiledIdentityProvider } from '../../../shared/snapshot/snapshot.ts';
import type { Session } from '../../records/session.ts';

/** A browser that is signed in at the host that received the request. */
export interface SignedInBrowser {
  /** Value of its session cookie. */
  readonly cookie: string;
  readonly session: Session;
}

/** What finds the session of a cookie. */
interface SessionFinder {
  readonly sessionCookies: Pick<SessionCookieAuthenticator, 'callerOf'>;
}

/**
 * Returns the browser that sent a request; undefined if no user of the provider is signed in with it at
 * this host.
 */
export async function signedInBrowser(
  { cookies, origin }: Pick<EndpointContext, 'cookies' | 'origin'>,
  provider: CompiledIdentityProvider | undefined,
  { sessionCookies }: SessionFinder,
): Promise<SignedInBrowser | undefined> {
  const cookie = provider && cookies[sessionCookieName(origin, provider)];
  if (cookie === undefined) return undefined;
  const caller = await sessionCookies.callerOf(cookie, origin);
  if (caller === null || !isUserOf(provider, caller.session.identity)) return undefined;
  return { cookie, session: caller.session };
}

/**
 * Returns the browser that sent a request, once for each provider at which it is signed in at this host.
 * The session of the provider with `signIn` is the first.
 */
export async function sessionsOfBrowser(
  context: Pick<EndpointContext, 'cookies' | 'origin' | 'configuration'>,
  options: SessionFinder,
): Promise<readonly SignedInBrowser[]> {
  const providers = context.configuration.identityProviders
    .all()
    .toSorted((one, other) => Number(other.signIn) - Number(one.signIn));
  const browsers = await Promise.all(
    providers.map((provider) => signedInBrowser(context, provider, options)),
  );
  return browsers.filter((browser) => browser !== undefined);
}
