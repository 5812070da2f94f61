import { hkdfSync } from 'node:crypto';

/**
 * A sealing key. What it seals names it by an id that follows from the secret alone, so that all who
 * hold it agree, whatever they call it.
 */
export interface SealingKey {
  /** Any length from 32 bytes. */
  readonly secret: Buffer;
}

/** One or more: the first seals, all open. */
export type SealingKeys = readonly [SealingKey, ...SealingKey[]];

/** Bytes that follow from a sealing key and say nothing about what else does (RFC 5869). */
export function deriveBytes({ secret }: SealingKey, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, bytes));
}
