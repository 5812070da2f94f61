const FIRST_MINIMUM_MS = 50;
const FIRST_MAXIMUM_MS = 500;
/** A leader that was killed is replaced after 18 s at most, and all is well after 20. */
const LONGEST_MS = 2000;

/** How long to wait before the next attempt: random, so that many proxies do not come at once. */
export class RetryDelay {
  #factor = 1;
  #leastMs = 0;

  /** Milliseconds; about twice as many with every call, up to two seconds. */
  next(): number {
    const random = FIRST_MINIMUM_MS + Math.random() * (FIRST_MAXIMUM_MS - FIRST_MINIMUM_MS);
    const delay = Math.min(random * this.#factor, LONGEST_MS * (0.5 + Math.random() / 2));
    this.#factor *= 2;
    const least = this.#leastMs * (1 + Math.random());
    this.#leastMs = 0;
    return Math.max(delay, least);
  }

  /** The next wait alone takes that long at least, and up to twice as long. */
  prolong(leastMs: number): void {
    this.#leastMs = leastMs;
  }

  /** The next wait is a short one again. */
  reset(): void {
    this.#factor = 1;
  }
}
