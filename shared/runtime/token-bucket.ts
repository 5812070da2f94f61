const SECOND_MS = 1000;

/** How often something may happen. */
export interface Rate {
  readonly perSecond: number;
  /** The most at once, after a pause. */
  readonly burst: number;
}

/** Limits a rate. Times are milliseconds of one monotonic clock. */
export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #filledAt: number | undefined;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#tokens = rate.burst;
  }

  /** Takes a token; false if there is none. */
  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Returns the milliseconds until there is a token. */
  waitMs(now: number): number {
    this.#fill(now);
    return Math.max(0, ((1 - this.#tokens) / this.#rate.perSecond) * SECOND_MS);
  }

  #fill(now: number): void {
    const passedMs = now - (this.#filledAt ?? now);
    this.#filledAt = now;
    const filled = (passedMs / SECOND_MS) * this.#rate.perSecond;
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + filled);
  }
}
