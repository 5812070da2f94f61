import { hkdfSync } from 'node:crypto';

/**
 * A sealing key. Its id is derived from the secret alone, so that all proxies agree on it, whatever
 * the key's file is called.
 */
export interface SealingKey {
  /** At least 32 bytes. */
  readonly secret: Buffer;
}

/** One or more: the first seals, all open. */
export type SealingKeys = readonly [SealingKey, ...SealingKey[]];

/**
 * Derives bytes from a sealing key; bytes for one purpose reveal nothing about others (RFC 5869).
 */
export function deriveBytes({ secret }: SealingKey, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, bytes));
}
