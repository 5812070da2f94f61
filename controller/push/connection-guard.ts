import type { Http2Session } from 'node:http2';

import type { PushTiming } from './push-timing.ts';

/** Connections on which nobody has proved who they are: the oldest makes room for another. */
const UNPROVEN_CONNECTIONS = 128;

/** Bounds what connections cost on which no proxy has a stream. */
export class ConnectionGuard {
  readonly #timing: PushTiming;
  readonly #unproven = new Map<Http2Session, NodeJS.Timeout>();
  readonly #streams = new Map<Http2Session, number>();

  constructor(timing: PushTiming) {
    this.#timing = timing;
  }

  opened(session: Http2Session): void {
    const [oldest] = this.#unproven.size < UNPROVEN_CONNECTIONS ? [] : this.#unproven.keys();
    oldest?.destroy();
    this.#closeAfter(session, this.#timing.authenticationMs);
    session.once('close', () => {
      this.#settle(session);
      this.#streams.delete(session);
    });
  }

  /** A proxy has a stream on it. */
  streamOpened(session: Http2Session): void {
    this.#settle(session);
    this.#streams.set(session, (this.#streams.get(session) ?? 0) + 1);
  }

  /** The last stream of a proxy takes its connection with it: the next one proves itself anew. */
  streamClosed(session: Http2Session): void {
    const left = (this.#streams.get(session) ?? 1) - 1;
    this.#streams.set(session, left);
    if (left === 0) this.refuse(session);
  }

  /** Takes no more requests on it, and leaves a moment to read the answer. */
  refuse(session: Http2Session): void {
    if (session.destroyed) return;
    session.close();
    if ((this.#streams.get(session) ?? 0) === 0) {
      this.#closeAfter(session, this.#timing.closeMs);
    }
  }

  #closeAfter(session: Http2Session, delayMs: number): void {
    this.#settle(session);
    this.#unproven.set(
      session,
      setTimeout(() => session.destroy(), delayMs),
    );
  }

  #settle(session: Http2Session): void {
    clearTimeout(this.#unproven.get(session));
    this.#unproven.delete(session);
  }
}
