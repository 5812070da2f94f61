/**
 * Records that are used once: pending sign-ins, sign-in codes, pending authorizations.
 *
 * Keys are hashes of what the browser holds, or random ids that are no secret.
 */
export interface SingleUseStore<Value> {
  save(key: string, value: Value, ttlSeconds: number): Promise<void>;
  /** Looks without using; null when unknown, expired or used. */
  peek(key: string): Promise<Value | null>;
  /** Atomic: of any number of concurrent calls with one key, exactly one gets the value. */
  consume(key: string): Promise<Value | null>;
}
