/** Tries again what failed: ever more rarely, and sooner when there is a reason to. */
export class RetryBackoff {
  readonly #retryMs: number;
  readonly #longestRetryMs: number;
  readonly #retry: () => void;
  #failures = 0;
  #isHurried = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    { retryMs, longestRetryMs }: { readonly retryMs: number; readonly longestRetryMs: number },
    retry: () => void,
  ) {
    this.#retryMs = retryMs;
    this.#longestRetryMs = longestRetryMs;
    this.#retry = retry;
  }

  /** How often it failed since it last succeeded. */
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

  /** Returns after how many milliseconds it tries again. */
  wait(): number {
    const delayMs = Math.min(this.#retryMs * 2 ** (this.#failures - 1), this.#longestRetryMs);
    this.#set(delayMs);
    return delayMs;
  }

  /** Shortens the wait: once for every failure, however often there is a reason to. */
  hurry(): void {
    if (!this.isWaiting || this.#isHurried) return;
    this.#isHurried = true;
    this.#set(this.#retryMs);
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #set(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#retry();
    }, delayMs);
  }
}
