import type { JWK } from 'jose';

import { isRecord } from '../../shared/runtime/is-record.ts';

/** Types of keys with a public part. Not `oct`: whoever can verify with a symmetric key can also sign. */
const PUBLIC_KEY_TYPES: ReadonlySet<unknown> = new Set(['RSA', 'EC', 'OKP']);

/** RFC 7518, section 3.3: a shorter RSA key must not be used. */
const MIN_RSA_BYTES = 2048 / 8;

/**
 * Returns the keys of a set that can verify signatures; others are ignored (RFC 7517, section 5). A key
 * whose private part is published is not a secret, so what it signs proves nothing.
 */
export function usableKeys(keys: readonly unknown[]): JWK[] {
  return keys.filter(isUsable);
}

function isUsable(key: unknown): key is JWK {
  if (!isRecord(key) || !PUBLIC_KEY_TYPES.has(key['kty'])) return false;
  const { d, use = 'sig', n } = key;
  if (d !== undefined || use !== 'sig') return false;
  return key['kty'] !== 'RSA' || (typeof n === 'string' && modulusBytes(n) >= MIN_RSA_BYTES);
}

function modulusBytes(modulus: string): number {
  return Buffer.from(modulus, 'base64url').length;
}
