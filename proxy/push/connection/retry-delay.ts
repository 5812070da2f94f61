const FIRST_MINIMUM_MS = 50;
const FIRST_MAXIMUM_MS = 500;
/** A killed leader is replaced within 18 s, so proxies are connected again within 20 s. */
const LONGEST_MS = 2000;

/** Chooses the random waits between attempts, so that many proxies do not reconnect at once. */
export class RetryDelay {
  #factor = 1;
  #leastMs = 0;

  /** Returns the next wait in milliseconds: about twice the previous one, up to two seconds. */
  next(): number {
    const random = FIRST_MINIMUM_MS + Math.random() * (FIRST_MAXIMUM_MS - FIRST_MINIMUM_MS);
    const delay = Math.min(random * this.#factor, LONGEST_MS * (0.5 + Math.random() / 2));
    this.#factor *= 2;
    const least = this.#leastMs * (1 + Math.random());
    this.#leastMs = 0;
    return Math.max(delay, least);
  }

  /** Prolongs only the next wait, to at least this time and at most twice this time. */
  prolong(leastMs: number): void {
    this.#leastMs = leastMs;
  }

  /** Makes the next wait short again. */
  reset(): void {
    this.#factor = 1;
  }
}
