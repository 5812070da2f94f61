import type { OutgoingHttpHeaders } from 'node:http2';

import type { ControllerAccess } from './controller-access.ts';
import type { DialAddress } from './controller-address.ts';
import { openPushStream, type HelloAnswer } from './open-push-stream.ts';
import type { PushClientTiming } from './push-timing.ts';

/**
 * Dials controllers, each within a deadline.
 *
 * The second connection of a dial is tried later after every dial that failed: more connections do
 * not help a controller that is too busy to answer, and may be what keeps it busy.
 */
export class ControllerDialer {
  readonly #access: ControllerAccess;
  readonly #timing: Pick<PushClientTiming, 'helloMs' | 'hedgeMs'>;
  #hedgeMs: number;

  constructor(access: ControllerAccess, timing: Pick<PushClientTiming, 'helloMs' | 'hedgeMs'>) {
    this.#access = access;
    this.#timing = timing;
    this.#hedgeMs = timing.hedgeMs;
  }

  /** Opens a stream at an address. Rejects when no controller answers in time. */
  async dial(
    address: DialAddress,
    hello: OutgoingHttpHeaders,
    signal: AbortSignal,
  ): Promise<HelloAnswer> {
    const { helloMs, hedgeMs } = this.#timing;
    const deadline = AbortSignal.timeout(helloMs);
    const options = { address, hello, hedgeMs: this.#hedgeMs };
    this.#hedgeMs = Math.min(2 * this.#hedgeMs, helloMs);
    const answer = await openPushStream(this.#access, {
      ...options,
      signal: AbortSignal.any([signal, deadline]),
    });
    this.#hedgeMs = hedgeMs;
    return answer;
  }
}
