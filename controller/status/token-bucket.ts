import type { Clock } from '../../shared/process/clock.ts';

const SECOND = 1000;

/** How often something may happen. */
export interface Rate {
  readonly perSecond: number;
  /** How often at once, after a rest. */
  readonly burst: number;
}

/** Lets something happen at a rate. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#filledAt = clock.now();
  }

  /** Takes a token; false: there is none. */
  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until there is a token. */
  get waitMs(): number {
    this.#fill();
    return Math.max(0, ((1 - this.#tokens) / this.#rate.perSecond) * SECOND);
  }

  #fill(): void {
    const now = this.#clock.now();
    const filled = ((now - this.#filledAt) / SECOND) * this.#rate.perSecond;
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + filled);
    this.#filledAt = now;
  }
}
