import type { Http2Session } from 'node:http2';

import type { Socket } from 'node:net';

import type { PushTiming } from '../push-timing.ts';

/** Connections on which nobody has proved who they are: the oldest makes room for another. */
const UNPROVEN_CONNECTIONS = 128;

/** And of one source address, from before the TLS handshake on: the oldest makes room too. */
const UNPROVEN_OF_A_SOURCE = 64;

/** Bounds what connections cost on which no proxy has a stream. */
export class ConnectionGuard {
  readonly #timing: PushTiming;
  readonly #unproven = new Map<Http2Session, NodeJS.Timeout>();
  readonly #streams = new Map<Http2Session, number>();
  /** Connections without proof, by source address and port. */
  readonly #sources = new Map<string, Map<number, Socket>>();

  constructor(timing: PushTiming) {
    this.#timing = timing;
  }

  connected(socket: Socket): void {
    const { remoteAddress: address, remotePort: port } = socket;
    if (address === undefined || port === undefined) return;
    const sockets = this.#sources.get(address) ?? new Map<number, Socket>();
    this.#sources.set(address, sockets.set(port, socket));
    if (sockets.size > UNPROVEN_OF_A_SOURCE) {
      const [oldest] = sockets.values();
      oldest?.destroy();
    }
    socket.once('close', () => this.#forget(address, port));
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
    const { remoteAddress: address, remotePort: port } = session.socket;
    if (address !== undefined && port !== undefined) this.#forget(address, port);
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

  #forget(address: string, port: number): void {
    const sockets = this.#sources.get(address);
    sockets?.delete(port);
    if (sockets?.size === 0) this.#sources.delete(address);
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
