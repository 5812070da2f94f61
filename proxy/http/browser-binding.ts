import type { Origin } from '../../shared/snapshot/origin.ts';
import { hashToken, randomToken, equalSecrets, type TokenHash } from '../crypto/tokens.ts';
import {
  bindingCookie,
  bindingCookieName,
  bindingCookiePrefix,
  expiredCookie,
  type BindingPurpose,
} from './cookies.ts';

const MINUTE_SECONDS = 60;

/** Longer than each may take: a sign-in has a request, a pending sign-in and a code. */
const LIFETIME_SECONDS: Readonly<Record<BindingPurpose, number>> = {
  'sign-in': 45 * MINUTE_SECONDS,
  connect: 15 * MINUTE_SECONDS,
};

/** Maximum of cookies of one browser at one host, about 2 KB for sign-ins; older ones are removed. */
const MAX_COOKIES: Readonly<Record<BindingPurpose, number>> = { 'sign-in': 24, connect: 12 };

type Cookies = Readonly<Record<string, string | undefined>>;

/** The binding of a sign-in or a connection to one browser. */
export interface BrowserBinding {
  /** Identifies what the browser began; the gateway stores it. */
  readonly hash: TokenHash;
  /** `Set-Cookie` values by which the browser proves that it began it. */
  readonly setCookies: readonly string[];
}

/** Binds a new sign-in or connection to the browser. */
export function bindBrowser(
  origin: Origin,
  cookies: Cookies,
  purpose: BindingPurpose,
): BrowserBinding {
  const value = randomToken();
  const hash = hashToken(value);
  const cookie = bindingCookie(
    origin,
    { name: bindingCookieName(origin, purpose, hash), value },
    LIFETIME_SECONDS[purpose],
  );
  return { hash, setCookies: [...dropOldest(origin, cookies, purpose), cookie] };
}

/** Removes the oldest cookies, which browsers list first: unfinished sign-ins would fill the header. */
function dropOldest(origin: Origin, cookies: Cookies, purpose: BindingPurpose): readonly string[] {
  const prefix = bindingCookiePrefix(origin, purpose);
  const names = Object.keys(cookies).filter((name) => name.startsWith(prefix));
  return names.slice(0, -(MAX_COOKIES[purpose] - 1)).map((name) => expiredCookie(origin, name));
}

/** Returns whether a request comes from the browser that began something. */
export function isBoundBrowser(
  origin: Origin,
  cookies: Cookies,
  purpose: BindingPurpose,
  hash: TokenHash,
): boolean {
  const value = cookies[bindingCookieName(origin, purpose, hash)];
  return value !== undefined && equalSecrets(hashToken(value), hash);
}

/** Returns the `Set-Cookie` value that ends a binding. */
export function endBinding(origin: Origin, purpose: BindingPurpose, hash: TokenHash): string {
  return expiredCookie(origin, bindingCookieName(origin, purpose, hash));
}
