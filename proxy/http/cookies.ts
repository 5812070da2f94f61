import { stringifySetCookie } from 'cookie';

import type { CompiledIdentityProvider, SameSite } from '../../shared/snapshot/snapshot.ts';
import type { RequestMessage } from './request-message.ts';
import type { TokenHash } from '../crypto/tokens.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/**
 * Browsers accept a `__Host-` cookie only from the host itself, over TLS, for all of its paths (RFC
 * 6265bis, section 4.1.3.2), so that no sibling domain can plant one.
 */
const SECURE_NAME = '__Host-gatehouse';
const SECURE_SESSION_PREFIX = '__Host-gatehouse-session-';

/** For loopback hosts without TLS. Cookies are shared by all ports, so the name has the port. */
const LOOPBACK_NAME = 'gatehouse';
const LOOPBACK_SESSION_NAME = 'gatehouse-session';

const GATEWAY_COOKIE = /^(?:__Host-|__Secure-)?gatehouse(?:-|$)/;

/** Enough to distinguish the pending sign-ins and connections of one browser. */
const BINDING_NAME_SUFFIX_LENGTH = 8;

/** What a browser began at the gateway, and finishes when it returns from another site. */
export type BindingPurpose = 'sign-in' | 'connect';

/** Returns whether a cookie is the gateway's own, which no upstream gets or may set. */
export function isGatewayCookie(name: string): boolean {
  return GATEWAY_COOKIE.test(name);
}

/**
 * Returns the name of the session cookie of users of one provider at an origin. Each provider has its own,
 * so that a browser can be signed in at several.
 */
export function sessionCookieName(
  origin: Origin,
  { signIn, name }: Pick<CompiledIdentityProvider, 'signIn' | 'name'>,
): string {
  return signIn ? defaultSessionCookieName(origin) : sessionCookiePrefix(origin) + name;
}

/** Returns whether a cookie has the name of a session cookie at an origin, of any provider. */
export function isSessionCookie(origin: Origin, name: string): boolean {
  return name === defaultSessionCookieName(origin) || name.startsWith(sessionCookiePrefix(origin));
}

function defaultSessionCookieName(origin: Origin): string {
  return isSecure(origin) ? SECURE_NAME : `${LOOPBACK_NAME}-${portOf(origin)}`;
}

function sessionCookiePrefix(origin: Origin): string {
  return isSecure(origin) ? SECURE_SESSION_PREFIX : `${LOOPBACK_SESSION_NAME}-${portOf(origin)}-`;
}

/**
 * Returns the name of the cookie that binds one pending sign-in or connection to one browser. The name has
 * the hash of the value, so that tabs that do the same at the same time do not disturb each other.
 */
export function bindingCookieName(
  origin: Origin,
  purpose: BindingPurpose,
  valueHash: TokenHash,
): string {
  return bindingCookiePrefix(origin, purpose) + valueHash.slice(0, BINDING_NAME_SUFFIX_LENGTH);
}

/** Returns the prefix of the names of all binding cookies of one purpose at an origin. */
export function bindingCookiePrefix(origin: Origin, purpose: BindingPurpose): string {
  return isSecure(origin)
    ? `${SECURE_NAME}-${purpose}-`
    : `${LOOPBACK_NAME}-${purpose}-${portOf(origin)}-`;
}

type CookieHeader = Pick<RequestMessage, 'headers'>;

/** Returns the gateway's own cookies of a request by name, with their values as they were sent. */
export function readCookies({
  headers: { cookie = '' },
}: CookieHeader): Readonly<Record<string, string | undefined>> {
  const cookies = Object.create(null) as Record<string, string | undefined>;
  for (const { name, value } of ownCookies(cookie)) {
    // Attack: of two cookies with one name, one was planted. Neither is trusted.
    cookies[name] = name in cookies ? undefined : value;
  }
  return cookies;
}

interface ReceivedCookie {
  readonly name: string;
  readonly value: string;
}

/**
 * Returns the gateway's own cookies in a `Cookie` field.
 *
 * Attack: a header of thousands of other cookies takes milliseconds to be divided.
 */
function ownCookies(header: string): readonly ReceivedCookie[] {
  const cookies: ReceivedCookie[] = [];
  for (let at = header.indexOf(LOOPBACK_NAME); at !== -1;) {
    const semicolon = header.indexOf(';', at);
    const end = semicolon === -1 ? header.length : semicolon;
    const pair = header.slice(header.lastIndexOf(';', at) + 1, end);
    const sign = pair.indexOf('=');
    const name = withoutBlanks(pair.slice(0, Math.max(sign, 0)));
    if (isGatewayCookie(name)) cookies.push({ name, value: withoutBlanks(pair.slice(sign + 1)) });
    at = header.indexOf(LOOPBACK_NAME, end);
  }
  return cookies;
}

/**
 * Returns a name or a value without the blanks around it (RFC 6265, section 4.2.1). Attack: browsers take a
 * cookie that begins with another space, such as U+00A0, from a sibling domain, whatever prefix follows. Read
 * as the gateway's cookie, it would be one of two with the same name, and lock the user out.
 */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (start < end && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** Returns a cookie of a request; undefined if it is absent, or is the gateway's and was sent twice. */
export function readCookie(message: CookieHeader, name: string): string | undefined {
  return readCookies(message)[name];
}

/** Returns whether a request has a session cookie of any provider, whether or not it is valid. */
export function hasSessionCookie(message: CookieHeader, origin: Origin): boolean {
  if (message.headers.cookie === undefined) return false;
  return Object.keys(readCookies(message)).some((name) => isSessionCookie(origin, name));
}

/** Name and attributes of a session cookie. */
export interface SessionCookieSettings {
  /** From `sessionCookieName`. */
  readonly name: string;
  readonly sameSite: SameSite;
  readonly maxAgeSeconds: number;
}

/** Returns the `Set-Cookie` value that signs a browser in at an origin. */
export function sessionCookie(
  origin: Origin,
  value: string,
  { name, sameSite, maxAgeSeconds }: SessionCookieSettings,
): string {
  // Browsers drop a SameSite=None cookie that is not Secure, and loopback has no Secure.
  const effective = sameSite === 'None' && !isSecure(origin) ? 'Lax' : sameSite;
  return serialise(origin, name, value, {
    sameSite: SAME_SITE[effective],
    maxAge: maxAgeSeconds,
  });
}

const SAME_SITE = { Lax: 'lax', Strict: 'strict', None: 'none' } as const;

/**
 * Returns the `Set-Cookie` value of a binding cookie. Always Lax: the browser must send the cookie when it
 * returns from another site, but only with a navigation.
 */
export function bindingCookie(
  origin: Origin,
  { name, value }: { readonly name: string; readonly value: string },
  maxAgeSeconds: number,
): string {
  return serialise(origin, name, value, { sameSite: 'lax', maxAge: maxAgeSeconds });
}

/** Returns the `Set-Cookie` value that removes a cookie. */
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
