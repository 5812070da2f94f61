import { setImmediate } from 'node:timers/promises';

import type { Clock } from '../../shared/runtime/clock.ts';

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

const DAY_ZERO = Date.UTC(2026, 0, 1);
/** Number of turns of the event loop that callbacks get to finish. */
const TURNS = 10;

/** A clock that stands still until it is moved. Several clocks can share a time, like processes. */
export class ManualClock implements Clock {
  #now = 1000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): Disposable {
    const timer = { at: this.#now + ms, call };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** The number of timers that have not run and are not disposed of. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** The time of day, which moves with the clock. */
  wallTime(): Date {
    return new Date(DAY_ZERO + this.#now);
  }

  /** Moves the clock, and runs the timers that are due in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#now = Math.max(this.#now, timer.at);
      this.#timers.delete(timer);
      timer.call();
      await settle();
    }
    this.#now = end;
  }

  /** Moves the clock without running a timer, as in a process that is paused. */
  sleep(ms: number): void {
    this.#now += ms;
  }

  #next(end: number): Timer | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= end);
    return due.sort((a, b) => a.at - b.at)[0];
  }
}

/** Runs everything that waits only for other callbacks. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
}
