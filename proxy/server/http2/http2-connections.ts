import type { Duplex } from 'node:stream';

import type { ConnectionFacts } from '../../http/connection-facts.ts';
import type { ListenerHandlers } from '../../http/listener-handlers.ts';
import { LOOKS_FOR_IDLE } from '../connection.ts';
import type { ListenerLimits } from '../connections.ts';
import { Http2Connection } from './http2-connection.ts';

/** How often connections are looked at for a pause of their clients before a drain. */
const PAUSE_LOOK_MS = 5;

/** After so many looks, five seconds, a busy client is not likely to pause. */
const PAUSE_LOOKS = 1_000;

/** The connections of one listener on which clients speak HTTP/2. */
export class Http2Connections implements Disposable {
  readonly #handlers: ListenerHandlers;
  readonly #limits: ListenerLimits;
  readonly #connections = new Set<Http2Connection>();
  readonly #timers: readonly NodeJS.Timeout[];
  #closing: NodeJS.Timeout | undefined;
  #isDraining = false;

  constructor(handlers: ListenerHandlers, limits: ListenerLimits) {
    this.#handlers = handlers;
    this.#limits = limits;
    const { headersMs, bodyStallMs, keepAliveMs } = limits;
    this.#timers = [
      setInterval(() => this.#checkStreams(), bodyStallMs).unref(),
      setInterval(() => this.#closeIdle(), keepAliveMs / LOOKS_FOR_IDLE).unref(),
      setInterval(() => this.#closeUnused(), headersMs / LOOKS_FOR_IDLE).unref(),
    ];
  }

  /**
   * Serves a connection from its first byte, after TLS has chosen `h2`. The facts are those that its requests
   * carry.
   */
  accept(socket: Duplex & ConnectionFacts, facts: ConnectionFacts = socket): void {
    // Undefined once the client has left.
    const { remoteAddress = '' } = facts;
    const connection = new Http2Connection(socket, {
      facts,
      linger: this.#limits,
      serve: (message, response) => this.#handlers.request(message, response),
      onRefused: (status) => this.#handlers.refused?.(remoteAddress, status),
    });
    this.#connections.add(connection);
    // Its handshake ended after the drain had begun.
    if (this.#isDraining) connection.finishWithNext();
    socket.once('close', () => this.#connections.delete(connection));
  }

  get size(): number {
    return this.#connections.size;
  }

  /**
   * Asks the clients of all connections, and of new ones, to use others: each once it pauses, since Node ignores
   * the streams that cross a GOAWAY. A client that never sent a request is not asked: it would connect again, and
   * be asked again. One that does not pause is asked with its next stream.
   */
  announceClose(): void {
    let looks = 0;
    // What has arrived while the event loop was busy is read before `setImmediate`.
    this.#closing ??= setInterval(
      () => setImmediate(() => this.#askAtPause(looks++)),
      PAUSE_LOOK_MS,
    );
    this.#closing.unref();
  }

  /** Begins no more requests, and closes each connection after its last one. */
  drain(): void {
    this.#isDraining = true;
    clearInterval(this.#closing);
    for (const connection of this.#connections) connection.finish();
  }

  destroy(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Ends the checks of connections. */
  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer);
    clearInterval(this.#closing);
  }

  #askAtPause(looks: number): void {
    for (const connection of this.#connections) {
      if (looks < PAUSE_LOOKS) connection.finishAtPause();
      else connection.finishWithNext();
    }
  }

  #checkStreams(): void {
    for (const connection of this.#connections) connection.checkStreams();
  }

  #closeIdle(): void {
    for (const connection of this.#connections) connection.closeIfIdle(LOOKS_FOR_IDLE);
  }

  #closeUnused(): void {
    for (const connection of this.#connections) connection.closeIfUnused(LOOKS_FOR_IDLE);
  }
}
