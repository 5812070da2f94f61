import { performance } from 'node:perf_hooks';

import { ConnectionError } from './connection-error.ts';
import { Deadlines } from './deadlines.ts';
import type { OutgoingRequest } from './outgoing-request.ts';
import { requestHead } from './request-head.ts';
import type { ResponseHandler } from './response-handler.ts';
import { SocketOpener, type ServerAddress } from './socket-opener.ts';
import {
  UpstreamConnection,
  type ConnectionOwner,
  type PreparedRequest,
} from './upstream-connection.ts';

const SECOND = 1_000;

/**
 * Idle connections are closed before usual servers close them (uvicorn and older Node: 5 s), unless
 * the upstream announces a timeout of its own (`Keep-Alive: timeout`).
 */
const IDLE_TIMEOUT_MS = 4 * SECOND;

/** How long before the announced time a connection is closed: a request may be on its way then. */
const KEEP_ALIVE_MARGIN_MS = 2 * SECOND;
const MAX_KEEP_ALIVE_MS = 600 * SECOND;

/** Connections to one server, each used for one request at a time. Their number has no limit. */
export class ConnectionPool implements ConnectionOwner {
  readonly #opener: SocketOpener;
  readonly #connections = new Set<UpstreamConnection>();
  /** The one that was used last is at the end. */
  readonly #idle: UpstreamConnection[] = [];
  readonly #deadlines = new Deadlines(this.#connections);
  /** Requests that are sent at the end of this turn of the event loop. */
  #waiting: PreparedRequest[] = [];
  #isClosing = false;
  /** Called when the last connection of a closing pool is closed. */
  #onEmpty: (() => void) | undefined;

  constructor(address: ServerAddress) {
    this.#opener = new SocketOpener(address);
  }

  /** Sends a request. A request that cannot be written is reported as `invalid-request`. */
  send(request: OutgoingRequest, handler: ResponseHandler): void {
    const prepared = { request, head: requestHead(request), handler };
    if (this.#waiting.length === 0) {
      // Attack: a response that an upstream sent too early, or the end of a connection, may not have
      // been read yet. It is by the end of this turn, and such a connection is not used.
      if (this.#idle.length === 0) {
        this.#open(prepared);
        return;
      }
      setImmediate(this.#sendWaiting);
    }
    this.#waiting.push(prepared);
  }

  /** Closes each connection once its request is done. Resolves when all are closed. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const connection of this.#idle.splice(0)) connection.close();
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Fails all requests. */
  destroy(): void {
    const error = new ConnectionError('closed');
    for (const connection of this.#connections) connection.close(error);
    for (const { handler } of this.#waiting.splice(0)) handler.onResponseError(error);
    this.#deadlines.stop();
  }

  noteDeadline(deadline: number): void {
    this.#deadlines.note(deadline);
  }

  onIdle(connection: UpstreamConnection, keepAliveSeconds: number | undefined): void {
    const idleMs = idleTimeout(keepAliveSeconds);
    if (idleMs <= 0 || this.#isClosing) {
      connection.close();
      return;
    }
    connection.deadline = performance.now() + idleMs;
    this.noteDeadline(connection.deadline);
    this.#idle.push(connection);
  }

  onClosed(connection: UpstreamConnection): void {
    this.#connections.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    if (this.#connections.size === 0) this.#onEmpty?.();
  }

  readonly #sendWaiting = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const prepared of waiting) {
      const connection = this.#idle.pop();
      if (connection === undefined) this.#open(prepared);
      else connection.send(prepared);
    }
  };

  #open(first: PreparedRequest): void {
    this.#connections.add(new UpstreamConnection(this, this.#opener, first));
  }
}

function idleTimeout(keepAliveSeconds: number | undefined): number {
  if (keepAliveSeconds === undefined) return IDLE_TIMEOUT_MS;
  return Math.min(keepAliveSeconds * SECOND - KEEP_ALIVE_MARGIN_MS, MAX_KEEP_ALIVE_MS);
}
