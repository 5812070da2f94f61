import { isLoopbackHost } from '../../../shared/snapshot/loopback-host.ts';
import { APPLICATION_SCHEMES, FORBIDDEN_SCHEMES } from './redirect-schemes.ts';

const MAX_LENGTH = 2048;

/** Visible ASCII without `"`, `<`, `>`, `\`, `^`, `` ` ``, `{`, `|` and `}` (RFC 3986, appendix A). */
const URI_CHARACTERS = /^[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]*$/;

/** Only lower case: browsers ignore case, exact comparison does not. */
const SCHEME = /^([a-z][a-z0-9+.-]*):/;

/** Stricter than a URL parser, which accepts `;`, `'` and `*`. These have a meaning in security policies. */
const HOST = /^(?:[a-z\d_-]+(?:\.[a-z\d_-]+)*\.?|\[[\da-f:.]+\])$/;

/** Scheme and host of a loopback redirect URI, the port, which is not compared, and the rest. */
const LOOPBACK = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/;

/** The decision about a redirect URI that a client wants to register. */
export type RedirectUriVerdict =
  | { readonly kind: 'accepted' }
  /** Harmless, but the application is not known: the URI is left out of the registration. */
  | { readonly kind: 'unknown-application'; readonly problem: string }
  | { readonly kind: 'refused'; readonly problem: string };

/**
 * Decides about a redirect URI that a client wants to register.
 *
 * Accepts https anywhere, http on `localhost`, `127.0.0.1` and `[::1]`, and private-use schemes that are
 * named after a domain (RFC 8252, section 7.1) or belong to a known application.
 */
export function judgeRedirectUri(uri: string): RedirectUriVerdict {
  const problem = problemOf(uri);
  if (problem !== null) return { kind: 'refused', problem };
  const scheme = schemeOf(uri);
  const isKnown =
    scheme === 'https' ||
    scheme === 'http' ||
    scheme.includes('.') ||
    APPLICATION_SCHEMES.has(scheme);
  if (isKnown) return { kind: 'accepted' };
  return {
    kind: 'unknown-application',
    problem: 'has a scheme that is neither named after a domain nor of a known application',
  };
}

function problemOf(uri: string): string | null {
  if (uri.length > MAX_LENGTH) return `is longer than ${String(MAX_LENGTH)} characters`;
  if (uri.includes('#')) return 'has a fragment';
  if (!URI_CHARACTERS.test(uri)) return 'has characters that a URI cannot have';
  const url = URL.parse(uri);
  if (!SCHEME.test(uri) || url === null) return 'is not absolute';
  if (url.username !== '' || url.password !== '') return 'has a user name or password';
  return problemOfScheme(uri, url);
}

function problemOfScheme(uri: string, { hostname }: URL): string | null {
  const scheme = schemeOf(uri);
  if (FORBIDDEN_SCHEMES.has(scheme) || /^(?:ms-|web\+)/.test(scheme)) {
    return 'has a scheme that is not allowed';
  }
  if (scheme === 'http') {
    return LOOPBACK.test(uri) ? null : 'must be https, but for localhost, 127.0.0.1 and [::1]';
  }
  // The URL parser accepts `https:host` and `https:///host`, which others may read differently.
  if (scheme === 'https' && !/^https:\/\/[^/?]/.test(uri)) return 'has no host';
  if (scheme === 'https' && !HOST.test(hostname)) return 'has a host that is no name or address';
  return null;
}

function schemeOf(uri: string): string {
  return SCHEME.exec(uri)?.[1] ?? '';
}

/**
 * Returns whether the redirect URI of a request is one of the registered ones.
 *
 * Compares the whole text, including slashes (RFC 9700, section 2.1). The only exception is the port of
 * http loopback URIs, which native applications choose at run time (RFC 8252, section 7.3; for
 * `localhost` too by OAuth 2.1).
 */
export function matchesRedirectUri(requested: string, registered: readonly string[]): boolean {
  if (!URL.canParse(requested)) return false;
  const portless = withoutLoopbackPort(requested);
  return registered.some((uri) => uri === requested || withoutLoopbackPort(uri) === portless);
}

function withoutLoopbackPort(uri: string): string {
  const [, base, rest] = LOOPBACK.exec(uri) ?? [];
  return base === undefined ? uri : base + (rest ?? '');
}

/** The target of a redirect URI, in words for people. */
export interface RedirectTarget {
  /** The host of a website, `this computer (...)`, or the scheme of an application. */
  readonly name: string;
  /** The host with its port, or the scheme of an application: the host in such a URI is no website's. */
  readonly address: string;
  /** Any program on the user's computer may be listening there. */
  readonly isLoopback: boolean;
}

/** Returns the target of a registered redirect URI; the host is the one that a browser would use. */
export function redirectTarget(uri: string): RedirectTarget {
  const { protocol, hostname, host } = new URL(uri);
  if (protocol !== 'https:' && protocol !== 'http:') {
    return { name: protocol, address: protocol, isLoopback: false };
  }
  const isLoopback = isLoopbackHost(hostname);
  const name = isLoopback ? `this computer (${hostname})` : hostname;
  return { name, address: host, isLoopback };
}
