import type { Clock } from '../../shared/runtime/clock.ts';

/** Options of a WatchTimeout. */
export interface WatchTimeoutOptions {
  readonly clock: Clock;
  /** Aborts the watch when its reflector is closed. */
  readonly closing: AbortSignal;
  /** The longest time without an event. */
  readonly inactivityMs: number;
  /** The longest time in total. */
  readonly deadlineMs: number;
}

/** Aborts a watch that is silent, at a deadline, or when its reflector is closed. */
export class WatchTimeout implements Disposable {
  readonly #options: WatchTimeoutOptions;
  readonly #controller = new AbortController();
  readonly #deadline: Disposable;
  readonly #abort = (): void => this.#controller.abort();
  #inactivity: Disposable;
  #lastActiveAt: number;
  #wasActive = false;

  constructor(options: WatchTimeoutOptions) {
    const { clock, closing, inactivityMs, deadlineMs } = options;
    this.#options = options;
    this.#lastActiveAt = clock.now();
    this.#inactivity = clock.after(inactivityMs, () => this.#checkActivity());
    this.#deadline = clock.after(deadlineMs, this.#abort);
    closing.addEventListener('abort', this.#abort);
    if (closing.aborted) this.#abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the API server responded to the watch. */
  get wasActive(): boolean {
    return this.#wasActive;
  }

  /** Records that the API server sent something. */
  recordActivity(): void {
    this.#wasActive = true;
    this.#lastActiveAt = this.#options.clock.now();
  }

  [Symbol.dispose](): void {
    this.#inactivity[Symbol.dispose]();
    this.#deadline[Symbol.dispose]();
    this.#options.closing.removeEventListener('abort', this.#abort);
  }

  /** Sets the timer again only when it ends, so that many events need one timer. */
  #checkActivity(): void {
    const { clock, inactivityMs } = this.#options;
    const leftMs = this.#lastActiveAt + inactivityMs - clock.now();
    if (leftMs <= 0) this.#abort();
    else this.#inactivity = clock.after(leftMs, () => this.#checkActivity());
  }
}
