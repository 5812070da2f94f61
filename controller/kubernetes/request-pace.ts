import { pause, type Clock } from '../../shared/runtime/clock.ts';

/** The most requests within any period. */
const REQUESTS = 2;

/** Limits the rate of requests, so that failures do not overload the API server. */
export class RequestPace {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #starts: number[] = [];

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /** Resolves when the next request may start, or when the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    const oldest = this.#starts.length < REQUESTS ? undefined : this.#starts.shift();
    const waitMs = oldest === undefined ? 0 : oldest + this.#periodMs - this.#clock.now();
    if (waitMs > 0) await pause(this.#clock, waitMs, signal);
    this.#starts.push(this.#clock.now());
  }
}
