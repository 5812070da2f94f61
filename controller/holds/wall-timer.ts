import type { Clock } from '../../shared/runtime/clock.ts';

/** Timers do not follow a wall clock that is set, so its time is compared again after this time. */
const LONGEST_WAIT_MS = 60_000;

/** What is due may have to wait, for settings that can be used, and must not be called all the time. */
const SHORTEST_WAIT_MS = 1_000;

/** Calls at a time of the wall clock, which may change until then. */
export class WallTimer implements Disposable {
  readonly #clock: Clock;
  readonly #wallTime: () => Date;
  readonly #call: () => void;
  #timer: Disposable | undefined;

  constructor(clock: Clock, wallTime: () => Date, call: () => void) {
    this.#clock = clock;
    this.#wallTime = wallTime;
    this.#call = call;
  }

  /** Calls at this time, or in a second if that is sooner, instead of an earlier setting; undefined: never. */
  set(at: number | undefined): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (at === undefined) return;
    const leftMs = Math.max(SHORTEST_WAIT_MS, at - this.#wallTime().getTime());
    this.#timer = this.#clock.after(Math.min(leftMs, LONGEST_WAIT_MS), () => {
      if (leftMs <= LONGEST_WAIT_MS) this.#call();
      else this.set(at);
    });
  }

  [Symbol.dispose](): void {
    this.set(undefined);
  }
}
