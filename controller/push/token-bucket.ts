/** Lets a number of things pass at once, and from then on so many in a time. */
export class TokenBucket {
  readonly #size: number;
  readonly #perMs: number;
  #level: number;
  #filledAt: number | undefined;

  constructor(size: number, perMs: number) {
    this.#size = size;
    this.#perMs = perMs;
    this.#level = size;
  }

  /** Whether one more may pass. `now` in milliseconds. */
  take(now: number): boolean {
    const passed = Math.max(0, now - (this.#filledAt ?? now));
    this.#filledAt = now;
    this.#level = Math.min(this.#size, this.#level + passed * this.#perMs);
    if (this.#level < 1) return false;
    this.#level -= 1;
    return true;
  }
}
