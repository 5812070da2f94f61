/** The most keys that are logged in one interval: strangers choose the keys. */
const MAX_KEYS = 256;

/** Limits repeated log lines to one per key and interval. */
export class LogLimit {
  readonly #intervalMs: number;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #loggedAt = new Map<string, number>();

  /** `now` returns monotonic milliseconds. */
  constructor(intervalMs: number, now: () => number) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Returns whether to log now. */
  admits(key: string): boolean {
    const now = this.#now();
    this.#forgetBefore(now - this.#intervalMs);
    if (this.#loggedAt.has(key) || this.#loggedAt.size >= MAX_KEYS) return false;
    this.#loggedAt.set(key, now);
    return true;
  }

  #forgetBefore(time: number): void {
    for (const [key, loggedAt] of this.#loggedAt) {
      if (loggedAt > time) return;
      this.#loggedAt.delete(key);
    }
  }
}
