import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';

import type { Clock } from '../../../shared/runtime/clock.ts';
import type { PushTiming } from '../push-timing.ts';

/** The most unauthenticated connections: beyond it the oldest is closed. */
const MAX_UNAUTHENTICATED = 128;

/** The most unauthenticated connections of one source address, counted before the TLS handshake. */
const MAX_UNAUTHENTICATED_PER_SOURCE = 64;

/** Limits the connections on which no proxy has authenticated. */
export class ConnectionGuard {
  readonly #timing: PushTiming;
  readonly #clock: Clock;
  readonly #unauthenticated = new Map<Http2Session, Disposable>();
  readonly #streams = new Map<Http2Session, number>();
  /** Unauthenticated connections, by source address and port. */
  readonly #sources = new Map<string, Map<number, Socket>>();

  constructor(timing: PushTiming, clock: Clock) {
    this.#timing = timing;
    this.#clock = clock;
  }

  /** Counts a connection before its TLS handshake. */
  connected(socket: Socket): void {
    const { remoteAddress: address, remotePort: port } = socket;
    if (address === undefined || port === undefined) return;
    const sockets = this.#sources.get(address) ?? new Map<number, Socket>();
    this.#sources.set(address, sockets.set(port, socket));
    if (sockets.size > MAX_UNAUTHENTICATED_PER_SOURCE) {
      const [oldest] = sockets.values();
      oldest?.destroy();
    }
    socket.once('close', () => this.#forget(address, port));
  }

  /** Closes a connection unless a proxy authenticates on it in time. */
  opened(session: Http2Session): void {
    const [oldest] =
      this.#unauthenticated.size < MAX_UNAUTHENTICATED ? [] : this.#unauthenticated.keys();
    oldest?.destroy();
    this.#closeAfter(session, this.#timing.authenticationMs);
    session.once('close', () => {
      this.#cancelClose(session);
      this.#streams.delete(session);
    });
  }

  /** Records that an authenticated proxy opened a stream. */
  streamOpened(session: Http2Session): void {
    const { remoteAddress: address, remotePort: port } = session.socket;
    if (address !== undefined && port !== undefined) this.#forget(address, port);
    this.#cancelClose(session);
    this.#streams.set(session, (this.#streams.get(session) ?? 0) + 1);
  }

  /** Closes the connection with its last stream, so that the next stream authenticates again. */
  streamClosed(session: Http2Session): void {
    const left = (this.#streams.get(session) ?? 1) - 1;
    this.#streams.set(session, left);
    if (left === 0) this.refuse(session);
  }

  /** Refuses further requests on a connection, and leaves time to read the response. */
  refuse(session: Http2Session): void {
    if (session.destroyed) return;
    session.close();
    if ((this.#streams.get(session) ?? 0) === 0) {
      this.#closeAfter(session, this.#timing.closeMs);
    }
  }

  #forget(address: string, port: number): void {
    const sockets = this.#sources.get(address);
    sockets?.delete(port);
    if (sockets?.size === 0) this.#sources.delete(address);
  }

  #closeAfter(session: Http2Session, delayMs: number): void {
    this.#cancelClose(session);
    this.#unauthenticated.set(
      session,
      this.#clock.after(delayMs, () => session.destroy()),
    );
  }

  #cancelClose(session: Http2Session): void {
    this.#unauthenticated.get(session)?.[Symbol.dispose]();
    this.#unauthenticated.delete(session);
  }
}
