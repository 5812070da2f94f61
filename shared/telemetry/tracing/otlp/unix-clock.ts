import { performance } from 'node:perf_hooks';

/** How far the two clocks may be apart before spans follow the one of the system. */
const MAX_DRIFT = 10;
const CHECK_AFTER = 1_000;

/**
 * Tells the Unix time at which `performance.now()` was zero.
 *
 * It stays the same while the clocks agree, so that the spans of a trace fit together, and follows a system clock
 * that was set.
 */
export class UnixClock {
  #origin = Date.now() - performance.now();
  #checkedAt = performance.now();

  /** Returns it in milliseconds since the epoch. `recently` is about now, since reading the clock has its cost. */
  origin(recently: number): number {
    if (recently - this.#checkedAt > CHECK_AFTER) {
      const now = performance.now();
      this.#checkedAt = now;
      const measured = Date.now() - now;
      if (Math.abs(measured - this.#origin) > MAX_DRIFT) this.#origin = measured;
    }
    return this.#origin;
  }
}
