/** Beyond so many keys at a time nothing is logged: strangers choose them. */
const KEYS = 256;

/** Lets through what is logged again and again: once in a time for each key. */
export class LogLimit {
  readonly #intervalMs: number;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #takenAt = new Map<string, number>();

  /** `now` in monotonic milliseconds. */
  constructor(intervalMs: number, now: () => number = () => performance.now()) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Whether to log it. */
  take(key: string): boolean {
    const now = this.#now();
    this.#forgetBefore(now - this.#intervalMs);
    if (this.#takenAt.has(key) || this.#takenAt.size >= KEYS) return false;
    this.#takenAt.set(key, now);
    return true;
  }

  #forgetBefore(time: number): void {
    for (const [key, takenAt] of this.#takenAt) {
      if (takenAt > time) return;
      this.#takenAt.delete(key);
    }
  }
}
