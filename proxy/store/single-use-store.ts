import type { TokenHash } from '../crypto/tokens.ts';

/**
 * Records that are used once: pending sign-ins and connections, sign-in codes, pending authorizations.
 *
 * The key is the hash of the value that the browser holds, or a random id that is not secret.
 */
export interface SingleUseStore<Value, Key extends string = TokenHash> {
  /**
   * `endSite` is where the request came from that caused the record. A store in memory that is full forgets the
   * oldest of the end site that has most, so that one end site cannot push out the records of others.
   */
  save(key: Key, value: Value, ttlSeconds: number, endSite?: string): Promise<void>;
  /** Reads without using; null if unknown, expired or used. */
  peek(key: Key): Promise<Value | null>;
  /** Atomic: of any number of concurrent calls with one key, exactly one gets the value. */
  consume(key: Key): Promise<Value | null>;
}
