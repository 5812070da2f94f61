import { hashToken, randomToken, equalSecrets, type TokenHash } from '../../crypto/tokens.ts';
import {
  expiredCookie,
  signInCookie,
  signInCookieName,
  signInCookiePrefix,
} from '../../http/cookies.ts';
import type { Origin } from '../../../shared/snapshot/origin.ts';

const MINUTE_SECONDS = 60;

/** Longer than everything a sign-in may take: request, pending sign-in and code together. */
const LIFETIME_SECONDS = 45 * MINUTE_SECONDS;

/** Cookies of sign-ins under way in one browser at one host, some 2 KB; older ones give way. */
const MAX_COOKIES = 24;

type Cookies = Readonly<Record<string, string | undefined>>;

export interface SignInBinding {
  /** Names the sign-in; kept on our side. */
  readonly hash: TokenHash;
  /** `Set-Cookie` values; the browser proves with them that it began the sign-in. */
  readonly setCookies: readonly string[];
}

/** Ties a sign-in that begins to the browser. */
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

/** Sign-ins that were left would fill the header; browsers list the oldest cookie first. */
function dropOldest(origin: Origin, cookies: Cookies): readonly string[] {
  const prefix = signInCookiePrefix(origin);
  const names = Object.keys(cookies).filter((name) => name.startsWith(prefix));
  return names.slice(0, -(MAX_COOKIES - 1)).map((name) => expiredCookie(origin, name));
}

/** Whether a request comes from the browser that a sign-in was tied to. */
export function isBoundBrowser(origin: Origin, cookies: Cookies, hash: TokenHash): boolean {
  const value = cookies[signInCookieName(origin, hash)];
  return value !== undefined && equalSecrets(hashToken(value), hash);
}
