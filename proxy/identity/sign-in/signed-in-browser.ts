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

/** A browser with a session, whether or not it opens anything now. */
interface HeldSession extends SignedInBrowser {
  /** Name of the cookie. */
  readonly name: string;
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
  { cookies, origin, request }: Pick<EndpointContext, 'cookies' | 'origin' | 'request'>,
  provider: CompiledIdentityProvider | undefined,
  { sessionCookies }: SessionFinder,
): Promise<SignedInBrowser | undefined> {
  const cookie = provider && cookies[sessionCookieName(origin, provider)];
  if (cookie === undefined) return undefined;
  const caller = await sessionCookies.callerOf(cookie, origin, request.trace);
  if (caller === null || !isUserOf(provider, caller.session.identity)) return undefined;
  return { cookie, session: caller.session };
}

/** A request, and the configuration that names its cookies. */
type BrowserContext = Pick<EndpointContext, 'request' | 'cookies' | 'origin' | 'configuration'>;

/**
 * Returns the browser that sent a request, once for each provider at which it is signed in at this host.
 * The session of the provider with `signIn` is the first.
 */
export async function sessionsOfBrowser(
  context: BrowserContext,
  options: SessionFinder,
): Promise<readonly SignedInBrowser[]> {
  const { origin, configuration } = context;
  const held = await heldSessions(context, options);
  return held.filter(({ name, session }) => {
    const provider = configuration.identityProviders.ofUser(session.identity);
    return provider !== undefined && name === sessionCookieName(origin, provider);
  });
}

/**
 * Returns the browser that sent a request, once for each session that it holds at this host, under any name that
 * the cookies of the providers can have. If `signIn` moves, a session under the name of before opens nothing,
 * until `signIn` moves back.
 */
export async function heldSessions(
  { request, cookies, origin, configuration }: BrowserContext,
  { sessionCookies }: SessionFinder,
): Promise<readonly HeldSession[]> {
  const names = configuration.identityProviders
    .all()
    .flatMap(({ name }) =>
      [true, false].map((signIn) => sessionCookieName(origin, { name, signIn })),
    );
  const held = [...new Set(names)].map(async (name) => {
    const cookie = cookies[name];
    const caller =
      cookie === undefined ? null : await sessionCookies.callerOf(cookie, origin, request.trace);
    return cookie === undefined || caller === null
      ? []
      : [{ name, cookie, session: caller.session }];
  });
  return (await Promise.all(held)).flat();
}
