import type { RateLimit, RateLimitStore } from '../rate-limit-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';

interface Window {
  readonly uses: number;
  readonly endsAt: number;
}

/** Counts uses in one process, in windows that begin with a key's first use. */
export class MemoryRateLimitStore implements RateLimitStore {
  readonly #now: Now;
  readonly #windows: ExpiringMap<Window>;

  constructor(now: Now) {
    this.#now = now;
    this.#windows = new ExpiringMap(now);
  }

  countUse(key: string, { limit, windowSeconds }: RateLimit): Promise<number> {
    const now = this.#now();
    const { uses, endsAt } = this.#windows.get(key) ?? {
      uses: 0,
      endsAt: now + windowSeconds * 1000,
    };
    if (uses >= limit) return Promise.resolve(Math.ceil((endsAt - now) / 1000));
    this.#windows.setUntil(key, { uses: uses + 1, endsAt }, endsAt);
    return Promise.resolve(0);
  }
}
