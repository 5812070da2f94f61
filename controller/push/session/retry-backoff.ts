import type { Clock } from '../../../shared/runtime/clock.ts';

/** Options of a backoff. */
export interface RetryBackoffOptions {
  readonly clock: Clock;
  readonly retryMs: number;
  readonly longestRetryMs: number;
  readonly retry: () => void;
}

/** Retries after failures: at growing intervals, and sooner when a retry may succeed. */
export class RetryBackoff {
  readonly #options: RetryBackoffOptions;
  #failures = 0;
  #isHurried = false;
  #timer: Disposable | undefined;

  constructor(options: RetryBackoffOptions) {
    this.#options = options;
  }

  /** Number of failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  failed(): void {
    this.#failures += 1;
    this.#isHurried = false;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Schedules a retry, and returns the milliseconds until then. */
  schedule(): number {
    const { retryMs, longestRetryMs } = this.#options;
    const delayMs = Math.min(retryMs * 2 ** (this.#failures - 1), longestRetryMs);
    this.#start(delayMs);
    return delayMs;
  }

  /** Shortens the wait under way, once per failure. */
  hurry(): void {
    if (!this.isWaiting || this.#isHurried) return;
    this.#isHurried = true;
    this.#start(this.#options.retryMs);
  }

  cancel(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #start(delayMs: number): void {
    this.cancel();
    this.#timer = this.#options.clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#options.retry();
    });
  }
}
