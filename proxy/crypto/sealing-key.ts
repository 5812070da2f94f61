import { hkdfSync } from 'node:crypto';

/**
 * A sealing key. Its id is derived from the secret, so that all proxies agree on the id even if the names of
 * their files differ.
 */
export interface SealingKey {
  /** At least 32 bytes. */
  readonly secret: Buffer;
}

/** One key or more: the first key seals, and every key opens. */
export type SealingKeys = readonly [SealingKey, ...SealingKey[]];

/**
 * Derives bytes from a sealing key; bytes for one purpose reveal nothing about others (RFC 5869).
 */
export function deriveBytes({ secret }: SealingKey, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, bytes));
}
