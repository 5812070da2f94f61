import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 32;

/** 256 random bits in base64url, after an optional prefix. */
export function randomToken(prefix = ''): string {
  return prefix + randomBytes(TOKEN_BYTES).toString('base64url');
}

/** What a bearer value is stored under: sha256 in base64url. The value itself is never stored. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * A value only the holder of `secret` can name, for one purpose; shown in forms against cross-site
 * request forgery.
 */
export function derivedToken(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}

/** Compares secrets in a time that tells nothing about where they differ. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
