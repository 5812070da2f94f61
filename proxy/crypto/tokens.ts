import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 32;
const HASH_FORMAT = /^[\w-]{43}$/;

declare const isHashOfToken: unique symbol;

/**
 * Hash of a bearer value. Stores accept only hashes, so code that stores a bearer value itself does not
 * compile.
 */
export type TokenHash = string & { readonly [isHashOfToken]: true };

/** Returns 256 random bits in base64url, after an optional prefix. */
export function randomToken(prefix = ''): string {
  return prefix + randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Hashes a bearer value for storage: sha256 in base64url. */
export function hashToken(token: string): TokenHash {
  // The one place that makes the brand.
  return createHash('sha256').update(token).digest('base64url') as TokenHash;
}

/**
 * Returns whether a value has the form of a hash that `hashToken` made. A random token without a prefix
 * has the same form, so this is for parsers of what the gateway itself stored or sealed.
 */
export function isTokenHash(value: unknown): value is TokenHash {
  return typeof value === 'string' && HASH_FORMAT.test(value);
}

/**
 * Derives a value that only the holder of `secret` can know, for one purpose. Forms carry it
 * against cross-site request forgery.
 */
export function derivedToken(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}

/** Compares secrets in a time that does not depend on where they differ. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
