import { hashToken } from '../crypto/tokens.ts';
import type { Stores } from '../store/stores.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Caller } from './caller.ts';

/** How long a revocation that was not heard of may stay without effect. */
const MAX_AGE = 5000;

const MAX_ENTRIES = 20_000;

/** What `randomToken` makes; anything else stands for nothing. */
const COOKIE_VALUE = /^[\w-]{43}$/;

interface Entry {
  readonly caller: Caller & { readonly kind: 'user' };
  readonly origin: string;
  /** Of the entry or of the session, whichever ends first. */
  readonly validUntil: number;
}

export interface BrowserAuthenticatorOptions {
  readonly stores: Pick<Stores, 'sessions' | 'browserSessions' | 'revocations'>;
  readonly now: () => number;
}

/** Recognises session cookies: at once when it did so within the last seconds. */
export class BrowserAuthenticator implements Disposable {
  readonly #stores: BrowserAuthenticatorOptions['stores'];
  readonly #now: () => number;
  readonly #entries = new BoundedMap<string, Entry>(MAX_ENTRIES);
  readonly #lookups = new Map<string, Promise<Entry | null>>();
  /** Sessions revoked while a lookup is under way, which may have read them before. */
  readonly #revokedMeanwhile = new Set<string>();
  readonly #unsubscribe: () => void;

  constructor({ stores, now }: BrowserAuthenticatorOptions) {
    this.#stores = stores;
    this.#now = now;
    this.#unsubscribe = stores.revocations.subscribe((revocation) => {
      if (revocation.kind === 'session' || revocation.kind === 'browser') {
        this.#forget(revocation.sessionId);
      }
    });
  }

  /** Null when the cookie stands for no live session at this origin. */
  authenticate(cookieValue: string, origin: string): Caller | null | Promise<Caller | null> {
    const entry = this.#entries.get(cookieValue);
    if (entry !== undefined && entry.validUntil > this.#now()) return callerAt(entry, origin);
    if (!COOKIE_VALUE.test(cookieValue)) return null;
    return this.#lookUpOnce(cookieValue).then((found) => found && callerAt(found, origin));
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }

  #lookUpOnce(cookieValue: string): Promise<Entry | null> {
    const underWay = this.#lookups.get(cookieValue);
    if (underWay !== undefined) return underWay;
    const lookup = this.#lookUp(cookieValue).finally(() => {
      this.#lookups.delete(cookieValue);
      if (this.#lookups.size === 0) this.#revokedMeanwhile.clear();
    });
    this.#lookups.set(cookieValue, lookup);
    return lookup;
  }

  async #lookUp(cookieValue: string): Promise<Entry | null> {
    const browserSession = await this.#stores.browserSessions.get(hashToken(cookieValue));
    if (browserSession === null) return null;
    const session = await this.#stores.sessions.get(browserSession.sessionId);
    const now = this.#now();
    if (session === null || session.expiresAt <= now) return null;
    if (this.#revokedMeanwhile.has(session.id)) return null;
    const entry: Entry = {
      caller: { kind: 'user', session, via: 'cookie' },
      origin: browserSession.origin,
      validUntil: Math.min(now + MAX_AGE, session.expiresAt),
    };
    this.#entries.set(cookieValue, entry);
    return entry;
  }

  #forget(sessionId: string): void {
    if (this.#lookups.size > 0) this.#revokedMeanwhile.add(sessionId);
    this.#entries.deleteWhere(({ caller }) => caller.session.id === sessionId);
  }
}

/** A cookie of one host means nothing at another, wherever a browser or a thief sends it. */
function callerAt({ caller, origin }: Entry, at: string): Caller | null {
  return origin === at ? caller : null;
}
