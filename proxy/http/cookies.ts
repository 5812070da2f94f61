import { parseCookie, stringifySetCookie } from 'cookie';

import type { SameSite } from '../../shared/snapshot/snapshot.ts';
import type { RequestMessage } from './request-message.ts';
import type { TokenHash } from '../crypto/tokens.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/**
 * Browsers accept a `__Host-` cookie only from the host itself, over TLS, for all of its paths (RFC
 * 6265bis, section 4.1.3.2), so that no sibling domain can plant one.
 */
const SECURE_NAME = '__Host-gatehouse';
const SECURE_SIGN_IN_NAME = '__Host-gatehouse-sign-in';

/** For loopback hosts without TLS. Cookies are shared by all ports, so the name has the port. */
const LOOPBACK_NAME = 'gatehouse';
const LOOPBACK_SIGN_IN_NAME = 'gatehouse-sign-in';

const OWN_COOKIE = /^(?:__Host-)?gatehouse(?:-|$)/;

/** Enough to distinguish the sign-ins of one browser. */
const SIGN_IN_NAME_SUFFIX_LENGTH = 8;

/** Name of the cookie that stands for a session at an origin. */
export function sessionCookieName(origin: Origin): string {
  return isSecure(origin) ? SECURE_NAME : `${LOOPBACK_NAME}-${portOf(origin)}`;
}

/**
 * Name of the cookie that ties one sign-in under way to one browser. Every sign-in has its own, by
 * the hash of its value: tabs that sign in at the same time do not disturb each other.
 */
export function signInCookieName(origin: Origin, valueHash: TokenHash): string {
  return signInCookiePrefix(origin) + valueHash.slice(0, SIGN_IN_NAME_SUFFIX_LENGTH);
}

/** The prefix of the names of an origin's sign-in cookies. */
export function signInCookiePrefix(origin: Origin): string {
  return isSecure(origin)
    ? `${SECURE_SIGN_IN_NAME}-`
    : `${LOOPBACK_SIGN_IN_NAME}-${portOf(origin)}-`;
}

type CookieHeader = Pick<RequestMessage, 'headers'>;

/** Returns the cookies of a request by name, with their values as they were sent. */
export function readCookies({
  headers: { cookie = '' },
}: CookieHeader): Readonly<Record<string, string | undefined>> {
  const cookies = parseCookie(cookie, { decode: (value) => value });
  // Attack: of two cookies with one name, one was planted. Neither is trusted.
  for (const name of repeatedNames(cookie)) if (OWN_COOKIE.test(name)) cookies[name] = undefined;
  return cookies;
}

/** Returns a cookie of a request; undefined if it is absent, or is the gateway's and was sent twice. */
export function readCookie(message: CookieHeader, name: string): string | undefined {
  return readCookies(message)[name];
}

function repeatedNames(header: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const pair of header.split(';')) {
    const name = pair.slice(0, Math.max(pair.indexOf('='), 0)).trim();
    (seen.has(name) ? repeated : seen).add(name);
  }
  return repeated;
}

export interface SessionCookieSettings {
  readonly sameSite: SameSite;
  readonly maxAgeSeconds: number;
}

/** `Set-Cookie` value that signs a browser in at an origin. */
export function sessionCookie(
  origin: Origin,
  value: string,
  { sameSite, maxAgeSeconds }: SessionCookieSettings,
): string {
  // Browsers drop a SameSite=None cookie that is not Secure, and loopback has no Secure.
  const effective = sameSite === 'None' && !isSecure(origin) ? 'Lax' : sameSite;
  return serialise(origin, sessionCookieName(origin), value, {
    sameSite: SAME_SITE[effective],
    maxAge: maxAgeSeconds,
  });
}

const SAME_SITE = { Lax: 'lax', Strict: 'strict', None: 'none' } as const;

/**
 * `Set-Cookie` value of a sign-in under way. Always Lax: the browser must send it when it comes back
 * from another site, and only when it does so as a navigation.
 */
export function signInCookie(
  origin: Origin,
  { name, value }: { readonly name: string; readonly value: string },
  maxAgeSeconds: number,
): string {
  return serialise(origin, name, value, { sameSite: 'lax', maxAge: maxAgeSeconds });
}

/** `Set-Cookie` value that removes a cookie. */
export function expiredCookie(origin: Origin, name: string): string {
  return serialise(origin, name, '', { sameSite: 'lax', maxAge: 0 });
}

function serialise(
  origin: Origin,
  name: string,
  value: string,
  attributes: { readonly sameSite: 'lax' | 'strict' | 'none'; readonly maxAge: number },
): string {
  const secure = isSecure(origin);
  return stringifySetCookie({ name, value, path: '/', httpOnly: true, secure, ...attributes });
}

function isSecure(origin: Origin): boolean {
  return origin.startsWith('https:');
}

function portOf(origin: Origin): string {
  return /:(\d+)$/.exec(origin)?.[1] ?? '80';
}
