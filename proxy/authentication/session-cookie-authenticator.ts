import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import { isUserOf } from '../configuration/identity-providers.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { hashToken } from '../crypto/tokens.ts';
import { SignInRequiredError } from '../errors/authentication-errors.ts';
import { readCookie, sessionCookieName } from '../http/cookies.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';
import type { BrowserSession } from '../records/browser-session.ts';
import type { Identity } from '../records/session.ts';
import type { Stores } from '../store/stores.ts';
import type { AuthenticationContext, Authenticator } from './authenticator.ts';
import type { SignedInCaller } from './caller.ts';
import { CheckCache } from './check-cache.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

const MAX_ENTRIES = 20_000;

/** How long after its sign-in the first request of a browser belongs to the same trace. */
const RETURN_MS = 60_000;

/** The form of a value from `randomToken`; no other value can be a session cookie. */
const COOKIE_VALUE = /^[\w-]{43}$/;

interface KnownCookie {
  readonly caller: SignedInCaller;
  readonly origin: Origin;
}

/** The request that sent a cookie. */
interface CookieUse {
  readonly origin: Origin;
  readonly trace: Trace | undefined;
}

/** Options of a `SessionCookieAuthenticator`. */
export interface SessionCookieAuthenticatorOptions {
  readonly stores: Pick<Stores, 'sessions' | 'browserSessions' | 'revocations'>;
  /** Returns whether a user is of an identity provider that is configured now. */
  readonly isOfProvider: (identity: Identity) => boolean;
  /** How long the last good check stays valid while the stores are unavailable. */
  readonly outageGraceSeconds: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Authenticates browsers by their session cookie, without I/O if it was checked within seconds. */
export class SessionCookieAuthenticator implements Authenticator, Disposable {
  readonly #stores: SessionCookieAuthenticatorOptions['stores'];
  readonly #now: () => number;
  /** By the cookie's value. */
  readonly #known: CheckCache<KnownCookie>;

  constructor({
    stores,
    now,
    isOfProvider,
    outageGraceSeconds,
  }: SessionCookieAuthenticatorOptions) {
    this.#stores = stores;
    this.#now = now;
    this.#known = new CheckCache<KnownCookie>({
      revocations: stores.revocations,
      maxEntries: MAX_ENTRIES,
      dependsOn: ({ caller }, revocation) =>
        (revocation.kind === 'session' || revocation.kind === 'browser') &&
        revocation.sessionId === caller.session.id,
      isCurrent: ({ caller }) => isOfProvider(caller.session.identity),
      expiryOf: ({ caller }) => caller.session.expiresAt,
      outageGraceSeconds,
      now,
    });
  }

  /** See `Authenticator`. Throws or rejects with a `SignInRequiredError`. */
  authenticate(
    { message, trace }: GatewayRequest,
    { compiled }: GatewayRoute,
    { origin, configuration }: AuthenticationContext,
  ): SignedInCaller | Promise<SignedInCaller> {
    const provider = configuration.identityProviders.ofRoute(compiled);
    if (provider === undefined) throw new SignInRequiredError('no identity provider has its users');
    const cookie = readCookie(message, sessionCookieName(origin, provider));
    if (cookie === undefined) throw new SignInRequiredError('no session cookie');
    const caller = this.callerOf(cookie, origin, trace);
    return caller instanceof Promise
      ? caller.then((found) => requireUserOf(provider, found))
      : requireUserOf(provider, caller);
  }

  /**
   * Returns the user of a cookie value, of any identity provider; null if it belongs to no live session
   * at this origin. `trace` is that of the request, which a sign-in may have led to.
   */
  callerOf(
    cookieValue: string,
    origin: Origin,
    trace?: Trace,
  ): SignedInCaller | null | Promise<SignedInCaller | null> {
    if (!COOKIE_VALUE.test(cookieValue)) return null;
    const known = this.#known.get(cookieValue, () => this.#lookUp(cookieValue, { origin, trace }));
    if (known instanceof Promise) return known.then((found) => callerAt(found, origin));
    return callerAt(known, origin);
  }

  [Symbol.dispose](): void {
    this.#known[Symbol.dispose]();
  }

  async #lookUp(cookieValue: string, use: CookieUse): Promise<KnownCookie | null> {
    const isFirstUse = this.#known.find(cookieValue) === undefined;
    const browserSession = await this.#stores.browserSessions.get(hashToken(cookieValue));
    if (browserSession === null) return null;
    const session = await this.#stores.sessions.get(browserSession.sessionId);
    if (session === null || session.expiresAt <= this.#now()) return null;
    if (isFirstUse) showSignIn(browserSession, use, this.#now());
    const { origin } = browserSession;
    return { caller: { kind: 'user', session, via: 'session-cookie' }, origin };
  }
}

/**
 * Puts the first request after a sign-in into the trace of the sign-in, and links that of later first uses. Each
 * process does it once for each session, when the cookie is not in its cache.
 */
function showSignIn(
  { signIn, origin }: BrowserSession,
  { origin: usedAt, trace }: CookieUse,
  now: number,
): void {
  // Attack: a cookie stolen at one host, sent to another one to get into the trace of its user.
  if (signIn === undefined || origin !== usedAt) return;
  if (now < signIn.endedAt + RETURN_MS) trace?.join(signIn.trace);
  else trace?.span?.link(signIn.trace);
}

/** Attack: a user gives a cookie of one provider the name of another provider's. */
function requireUserOf(
  provider: CompiledIdentityProvider,
  caller: SignedInCaller | null,
): SignedInCaller {
  if (caller === null) throw new SignInRequiredError('the session cookie has no live session');
  if (isUserOf(provider, caller.session.identity)) return caller;
  throw new SignInRequiredError('the session is of another identity provider');
}

/** Attack: a cookie stolen at one host is not valid at another one. */
function callerAt(known: KnownCookie | null, origin: Origin): SignedInCaller | null {
  return known?.origin === origin ? known.caller : null;
}
