import type { ClientHttp2Session } from 'node:http2';

/**
 * Notices that the other side is gone although the connection stands: a machine that lost its power
 * says no goodbye, and TCP alone would wait for many minutes.
 */
export class Liveness implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #heardAt = performance.now();

  /** `lost` is called once. */
  constructor(
    session: ClientHttp2Session,
    { pingMs, silenceMs }: { readonly pingMs: number; readonly silenceMs: number },
    lost: () => void,
  ) {
    this.#timer = setInterval(() => {
      if (performance.now() - this.#heardAt < silenceMs) {
        // False, or an error, when too many are under way: then nothing has been heard either.
        if (!session.destroyed) session.ping((error) => error ?? this.heard());
        return;
      }
      clearInterval(this.#timer);
      lost();
    }, pingMs);
  }

  /** Something came from the other side. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
