import { hashToken } from '../crypto/tokens.ts';
import type { Stores } from '../store/stores.ts';
import type { Caller } from './caller.ts';
import { CheckCache } from './check-cache.ts';

const MAX_ENTRIES = 20_000;

/** What `randomToken` makes; anything else stands for nothing. */
const COOKIE_VALUE = /^[\w-]{43}$/;

interface KnownCookie {
  readonly caller: Caller & { readonly kind: 'user' };
  readonly origin: string;
}

export interface BrowserAuthenticatorOptions {
  readonly stores: Pick<Stores, 'sessions' | 'browserSessions' | 'revocations'>;
  /** How long the last good check counts while the stores are away. */
  readonly outageGraceSeconds: () => number;
  readonly now: () => number;
}

/** Recognises session cookies: at once when it did so within the last seconds. */
export class BrowserAuthenticator implements Disposable {
  readonly #stores: BrowserAuthenticatorOptions['stores'];
  readonly #now: () => number;
  /** By the cookie's value. */
  readonly #known: CheckCache<KnownCookie>;

  constructor({ stores, now, outageGraceSeconds }: BrowserAuthenticatorOptions) {
    this.#stores = stores;
    this.#now = now;
    this.#known = new CheckCache<KnownCookie>({
      revocations: stores.revocations,
      maxEntries: MAX_ENTRIES,
      standsOn: ({ caller }, revocation) =>
        (revocation.kind === 'session' || revocation.kind === 'browser') &&
        revocation.sessionId === caller.session.id,
      expiryOf: ({ caller }) => caller.session.expiresAt,
      outageGraceSeconds,
      now,
    });
  }

  /** Null when the cookie stands for no live session at this origin. */
  authenticate(cookieValue: string, origin: string): Caller | null | Promise<Caller | null> {
    if (!COOKIE_VALUE.test(cookieValue)) return null;
    const known = this.#known.get(cookieValue, () => this.#lookUp(cookieValue));
    if (known instanceof Promise) return known.then((found) => callerAt(found, origin));
    return callerAt(known, origin);
  }

  [Symbol.dispose](): void {
    this.#known[Symbol.dispose]();
  }

  async #lookUp(cookieValue: string): Promise<KnownCookie | null> {
    const browserSession = await this.#stores.browserSessions.get(hashToken(cookieValue));
    if (browserSession === null) return null;
    const session = await this.#stores.sessions.get(browserSession.sessionId);
    if (session === null || session.expiresAt <= this.#now()) return null;
    const { origin } = browserSession;
    return { caller: { kind: 'user', session, via: 'cookie' }, origin };
  }
}

/** A cookie of one host means nothing at another, wherever a browser or a thief sends it. */
function callerAt(known: KnownCookie | null, at: string): Caller | null {
  return known?.origin === at ? known.caller : null;
}
