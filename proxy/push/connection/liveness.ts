import type { ClientHttp2Session } from 'node:http2';

import { every, type Clock } from '../../../shared/runtime/clock.ts';
import type { PushClientTiming } from './push-timing.ts';

/** Options of a `Liveness`. */
export interface LivenessOptions {
  readonly timing: Pick<PushClientTiming, 'pingMs' | 'silenceMs'>;
  readonly clock: Clock;
  /** Called once, when nothing was received for `silenceMs`. */
  readonly onSilence: () => void;
}

/**
 * Detects that the other side is gone although the connection is open: a machine that lost power
 * does not close the connection, and TCP alone waits for many minutes.
 */
export class Liveness implements Disposable {
  readonly #session: ClientHttp2Session;
  readonly #options: LivenessOptions;
  readonly #timer: Disposable;
  #heardAt: number;

  constructor(session: ClientHttp2Session, options: LivenessOptions) {
    const { timing, clock } = options;
    this.#session = session;
    this.#options = options;
    this.#heardAt = clock.now();
    this.#timer = every(clock, timing.pingMs, () => this.#check());
  }

  /** Records that the other side sent something. */
  heard(): void {
    this.#heardAt = this.#options.clock.now();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #check(): void {
    const { timing, clock, onSilence } = this.#options;
    if (clock.now() - this.#heardAt < timing.silenceMs) {
      // Fails if too many pings are unanswered: then nothing was received either.
      if (!this.#session.destroyed) this.#session.ping((error) => error ?? this.heard());
      return;
    }
    this.#timer[Symbol.dispose]();
    onSilence();
  }
}
