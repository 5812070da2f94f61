import type { ClientHttp2Session } from 'node:http2';

/**
 * Detects that the other side is gone although the connection is open: a machine that lost power
 * does not close it, and TCP alone waits for many minutes.
 */
export class Liveness implements Disposable {
  readonly #timer: NodeJS.Timeout;
  #heardAt = performance.now();

  /** Calls `lost` once, when nothing was heard for `silenceMs`. */
  constructor(
    session: ClientHttp2Session,
    { pingMs, silenceMs }: { readonly pingMs: number; readonly silenceMs: number },
    lost: () => void,
  ) {
    this.#timer = setInterval(() => {
      if (performance.now() - this.#heardAt < silenceMs) {
        // Fails if too many pings are unanswered: then nothing was heard either.
        if (!session.destroyed) session.ping((error) => error ?? this.heard());
        return;
      }
      clearInterval(this.#timer);
      lost();
    }, pingMs);
  }

  /** The other side sent something. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
