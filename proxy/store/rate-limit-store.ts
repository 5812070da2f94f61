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

/** Remembers ids that may be used once, such as the `jti` of a client assertion. */
export interface ReplayStore {
  /** Atomic: returns true for exactly one of any number of calls with one id within `ttlSeconds`. */
  claim(id: string, ttlSeconds: number): Promise<boolean>;
}
