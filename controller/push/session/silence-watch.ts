import type { Clock } from '../../../shared/runtime/clock.ts';
import type { PushTiming } from '../push-timing.ts';

/** Options of a SilenceWatch. */
export interface SilenceWatchOptions {
  readonly timing: PushTiming;
  readonly clock: Clock;
  readonly ping: () => void;
  readonly onSilence: () => void;
}

/**
 * Pings a proxy, and reports when too many pings in a row are unanswered.
 *
 * Counts pings, not time: a controller that was suspended could not receive the answers.
 */
export class SilenceWatch implements Disposable {
  readonly #options: SilenceWatchOptions;
  #unanswered = 0;
  #timer: Disposable;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#timer = this.#schedule();
  }

  /** Records that something arrived from the proxy. */
  heard(): void {
    this.#unanswered = 0;
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #schedule(): Disposable {
    const { timing, clock } = this.#options;
    return clock.after(timing.pingMs, () => this.#next());
  }

  #next(): void {
    const { timing, ping, onSilence } = this.#options;
    if (this.#unanswered >= timing.silentPings) {
      onSilence();
      return;
    }
    this.#unanswered += 1;
    this.#timer = this.#schedule();
    ping();
  }
}
