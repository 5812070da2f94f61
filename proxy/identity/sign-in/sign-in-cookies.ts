import { hashToken, randomToken, equalSecrets, type TokenHash } from '../../crypto/tokens.ts';
import {
  expiredCookie,
  signInCookie,
  signInCookieName,
  signInCookiePrefix,
} from '../../http/cookies.ts';
import type { Origin } from '../../../shared/snapshot/origin.ts';

const MINUTE_SECONDS = 60;

/** Longer than a sign-in may take: request, pending sign-in and code together. */
const LIFETIME_SECONDS = 45 * MINUTE_SECONDS;

/** Maximum of sign-in cookies of one browser at one host, about 2 KB; older ones are removed. */
const MAX_COOKIES = 24;

type Cookies = Readonly<Record<string, string | undefined>>;

/** The binding of a sign-in to one browser. */
export interface SignInBinding {
  /** Identifies the sign-in; the gateway stores it. */
  readonly hash: TokenHash;
  /** `Set-Cookie` values by which the browser proves that it began the sign-in. */
  readonly setCookies: readonly string[];
}

/** Binds a new sign-in to the browser. */
export function bindBrowser(origin: Origin, cookies: Cookies): SignInBinding {
  const value = randomToken();
  const hash = hashToken(value);
  const cookie = signInCookie(
    origin,
    { name: signInCookieName(origin, hash), value },
    LIFETIME_SECONDS,
  );
  return { hash, setCookies: [...dropOldest(origin, cookies), cookie] };
}

/** Removes the oldest cookies, which browsers list first: unfinished sign-ins would fill the header. */
function dropOldest(origin: Origin, cookies: Cookies): readonly string[] {
  const prefix = signInCookiePrefix(origin);
  const names = Object.keys(cookies).filter((name) => name.startsWith(prefix));
  return names.slice(0, -(MAX_COOKIES - 1)).map((name) => expiredCookie(origin, name));
}

/** Returns whether a request comes from the browser that a sign-in is bound to. */
export function isBoundBrowser(origin: Origin, cookies: Cookies, hash: TokenHash): boolean {
  const value = cookies[signInCookieName(origin, hash)];
  return value !== undefined && equalSecrets(hashToken(value), hash);
}
