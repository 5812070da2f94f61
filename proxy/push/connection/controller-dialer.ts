import type { OutgoingHttpHeaders } from 'node:http2';

import type { Clock } from '../../../shared/runtime/clock.ts';
import type { ControllerAccess } from './controller-access.ts';
import type { DialAddress } from './controller-address.ts';
import { openPushStream, type HelloAnswer } from './open-push-stream.ts';
import type { PushClientTiming } from './push-timing.ts';

/** Options of a `ControllerDialer`. */
export interface ControllerDialerOptions {
  readonly timing: Pick<PushClientTiming, 'helloMs' | 'hedgeMs'>;
  readonly clock: Clock;
}

/**
 * Dials controllers, each within a deadline.
 *
 * Every failed dial delays the second connection of the next one: more connections do not help a
 * controller that is too busy to answer, and may be the reason why it is busy.
 */
export class ControllerDialer {
  readonly #access: ControllerAccess;
  readonly #options: ControllerDialerOptions;
  #hedgeMs: number;

  constructor(access: ControllerAccess, options: ControllerDialerOptions) {
    this.#access = access;
    this.#options = options;
    this.#hedgeMs = options.timing.hedgeMs;
  }

  /** Opens a stream at an address. Rejects when no controller answers in time. */
  async dial(
    address: DialAddress,
    hello: OutgoingHttpHeaders,
    signal: AbortSignal,
  ): Promise<HelloAnswer> {
    const { timing, clock } = this.#options;
    const { helloMs, hedgeMs } = timing;
    const late = new AbortController();
    const deadline = clock.after(helloMs, () => late.abort(timedOut(helloMs)));
    const options = { address, hello, clock, hedgeMs: this.#hedgeMs };
    this.#hedgeMs = Math.min(2 * this.#hedgeMs, helloMs);
    try {
      const over = AbortSignal.any([signal, late.signal]);
      const answer = await openPushStream(this.#access, { ...options, signal: over });
      this.#hedgeMs = hedgeMs;
      return answer;
    } finally {
      deadline[Symbol.dispose]();
    }
  }
}

function timedOut(ms: number): DOMException {
  return new DOMException(`no answer in ${String(ms)} ms`, 'TimeoutError');
}
