/** How often something may be used. */
export interface RateLimit {
  /** Uses allowed per window. */
  readonly limit: number;
  readonly windowSeconds: number;
}

/** Counts uses over all proxies. */
export interface RateLimitStore {
  /** Counts one use. Returns 0, or the seconds to wait if the limit is reached. */
  countUse(key: string, rate: RateLimit): Promise<number>;
}

/**
 * Remembers ids that may be used once, such as the `jti` of a client assertion. None is forgotten early: a
 * store in memory that is full refuses ids, and first those of owners that have used many.
 */
export interface ReplayStore {
  /**
   * Atomic: returns true for exactly one of any number of calls with one owner and id within `ttlSeconds`.
   * Throws `StoreFullError` if there is no room for an id of this owner.
   */
  claim(owner: string, id: string, ttlSeconds: number): Promise<boolean>;
}
