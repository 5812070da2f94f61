import type { Clock } from '../../shared/runtime/clock.ts';

/** The changes of one `kubectl apply`, or of one list, arrive in less time than this. */
const QUIET_MS = 10;

/** The longest time from a request to its call, even if further requests follow. */
const LONGEST_MS = 100;

/**
 * Merges requests into one call, made once no request came for a moment, and never two at a time.
 *
 * The call must not reject. Disposing waits for the call in progress.
 */
export class Holdoff implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #call: () => Promise<void>;
  #timer: Disposable | undefined;
  #firstRequestAt: number | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(clock: Clock, call: () => Promise<void>) {
    this.#clock = clock;
    this.#call = call;
  }

  /** Requests a call. */
  request(): void {
    if (this.#isClosed) return;
    const now = this.#clock.now();
    this.#firstRequestAt ??= now;
    if (this.#running !== undefined) return;
    this.#timer?.[Symbol.dispose]();
    const waitMs = Math.max(0, Math.min(QUIET_MS, this.#firstRequestAt + LONGEST_MS - now));
    this.#timer = this.#clock.after(waitMs, () => this.#run());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
    await this.#running;
  }

  #run(): void {
    this.#firstRequestAt = undefined;
    this.#running = this.#call().finally(() => {
      this.#running = undefined;
      if (this.#firstRequestAt !== undefined) this.request();
    });
  }
}
