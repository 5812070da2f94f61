import { monotonicClock, pause } from '../../shared/runtime/clock.ts';

/** Requests within any stretch of time of the given length, whatever goes wrong. */
const REQUESTS = 2;

/** Keeps requests apart, so that nothing that goes wrong makes us a burden. */
export class RequestPace {
  readonly #stretchMs: number;
  readonly #starts: number[] = [];

  constructor(stretchMs: number) {
    this.#stretchMs = stretchMs;
  }

  /** Resolves when the next request may start, or when the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    const oldest = this.#starts.length < REQUESTS ? undefined : this.#starts.shift();
    const waitMs = oldest === undefined ? 0 : oldest + this.#stretchMs - performance.now();
    if (waitMs > 0) await pause(monotonicClock, waitMs, signal);
    this.#starts.push(performance.now());
  }
}
