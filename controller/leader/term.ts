import type { Clock } from '../../shared/runtime/clock.ts';

/**
 * The time in which one controller leads. It ends at its deadline unless it is extended, and never
 * begins again.
 *
 * In a process that was suspended, the timer may run after other callbacks; `isCurrent` reads the
 * clock.
 */
export class Term {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #deadline: number;
  #timer: Disposable;

  /** `deadline` is by `clock`. */
  constructor(clock: Clock, deadline: number) {
    this.#clock = clock;
    this.#deadline = deadline;
    this.#timer = this.#watch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isCurrent(): boolean {
    if (this.#clock.now() >= this.#deadline) this.end('the Lease was not renewed in time');
    return !this.signal.aborted;
  }

  /** The reason why the term ended; undefined while it lasts. */
  get reason(): string | undefined {
    const reason: unknown = this.signal.reason;
    return reason instanceof Error ? reason.message : undefined;
  }

  /** Moves the deadline, unless the term is over. */
  extend(deadline: number): void {
    if (!this.isCurrent || deadline <= this.#deadline) return;
    this.#deadline = deadline;
    this.#timer[Symbol.dispose]();
    this.#timer = this.#watch();
  }

  end(reason: string): void {
    this.#timer[Symbol.dispose]();
    if (!this.signal.aborted) this.#controller.abort(new Error(reason));
  }

  #watch(): Disposable {
    return this.#clock.after(this.#deadline - this.#clock.now(), () => {
      // A timer may fire a fraction of a millisecond early.
      if (this.isCurrent) this.#timer = this.#watch();
    });
  }
}
