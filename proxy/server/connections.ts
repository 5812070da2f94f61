import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

import { distrust } from '../http/distrust.ts';
import type { Linger } from '../http/close-gently.ts';
import { hasBody } from '../http/has-body.ts';
import type { ListenerHandlers } from '../http/listener-handlers.ts';
import { ClientConnection, LOOKS_FOR_IDLE } from './connection.ts';
import type { FrontMessage } from './front-message.ts';
import type { FrontResponse } from './front-response.ts';
import { endWithResponse } from '../http/raw-response.ts';
import { awaitContinue, noteUnknownExpectation } from '../http/expect-continue.ts';

/** How long clients may keep a connection waiting. */
export interface ListenerLimits extends Linger {
  /** From the connection, or the previous response, to the end of the next request's header. */
  readonly headersMs: number;
  /** How long a body that is being read may stall; a stall is noticed after at most twice this time. */
  readonly bodyStallMs: number;
  /** How long clients may count on an idle connection; it is closed within half as much again. */
  readonly keepAliveMs: number;
}

/** The HTTP/1.1 connections of one listener. */
export class Connections implements Disposable {
  readonly #handlers: ListenerHandlers;
  readonly #limits: ListenerLimits;
  readonly #connections = new Map<Duplex, ClientConnection>();
  readonly #bodyCheck: NodeJS.Timeout;
  readonly #idleCheck: NodeJS.Timeout;
  #isDraining = false;

  constructor(handlers: ListenerHandlers, limits: ListenerLimits) {
    this.#handlers = handlers;
    this.#limits = limits;
    const { bodyStallMs, keepAliveMs } = limits;
    this.#bodyCheck = setInterval(() => this.#checkBodies(), bodyStallMs).unref();
    const idleCheckMs = keepAliveMs / LOOKS_FOR_IDLE;
    this.#idleCheck = setInterval(() => this.closeIdle(), idleCheckMs).unref();
  }

  /** Handles the events of a server. */
  attach(server: Server<typeof FrontMessage, typeof FrontResponse>): void {
    server.on('connection', (socket) => {
      // Undefined once the client has left.
      const { remoteAddress = '' } = socket;
      this.#connections.set(
        socket,
        new ClientConnection(socket, {
          linger: this.#limits,
          serve: this.#serve,
          onRefused: (status) => this.#handlers.refused?.(remoteAddress, status),
        }),
      );
      socket.once('close', () => this.#connections.delete(socket));
    });
    server.on('request', this.#accept);
    server.on('checkContinue', (message, response) => {
      awaitContinue(message, () => response.writeContinue());
      this.#accept(message, response);
    });
    // Without a listener, Node answers by itself, and nobody learns of the request.
    server.on('checkExpectation', (message, response) => {
      noteUnknownExpectation(message);
      this.#accept(message, response);
    });
    server.on('clientError', this.#refuse);
    server.on('connect', this.#refuseTunnel);
    server.on('upgrade', this.#upgrade);
  }

  /** Makes the current or next response the last on every connection. */
  announceClose(): void {
    this.#isDraining = true;
    for (const connection of this.#connections.values()) connection.announceClose();
  }

  /**
   * Makes the current or next response the last on every connection. Idle ones are closed only by calls of
   * `closeIdle` from now on, and how long they were idle before does not count.
   */
  drain(): void {
    this.announceClose();
    clearInterval(this.#idleCheck);
    for (const connection of this.#connections.values()) connection.restartIdleTime();
  }

  /** Closes the connections on which nothing was received. */
  closeUnused(): void {
    for (const connection of this.#connections.values()) connection.closeUnused();
  }

  /** Closes the connections on which nothing happened at the last few calls. */
  closeIdle(): void {
    for (const connection of this.#connections.values()) connection.closeIfIdle();
  }

  /** Ends the checks of connections. */
  [Symbol.dispose](): void {
    clearInterval(this.#bodyCheck);
    clearInterval(this.#idleCheck);
  }

  readonly #accept = (message: FrontMessage, response: FrontResponse): void => {
    this.#connections.get(message.socket)?.accept(message, response);
  };

  readonly #serve = (message: FrontMessage, response: FrontResponse): void => {
    if (this.#isDraining) response.shouldKeepAlive = false;
    if (isHttp1(message)) {
      this.#handlers.request(message, response);
      return;
    }
    distrust(message);
    response.writeHead(BAD_REQUEST, { 'content-length': 0 }).end();
    this.#noteRefused(message);
  };

  /** Answers a message that could not be parsed, or was not received in time. */
  readonly #refuse = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const connection = this.#connections.get(socket);
    const status = statusOfParseError(error);
    // RFC 9112, section 9.6: bytes after `Connection: close` are ignored.
    if (error.code === AFTER_CLOSE) connection?.finish();
    else if (status === undefined) socket.destroy();
    else connection?.refuse(status);
  };

  readonly #refuseTunnel = (message: FrontMessage, socket: Duplex): void => {
    guard(socket);
    if (this.#isTooEarly(socket)) return;
    endWithResponse(socket, { status: BAD_REQUEST });
    this.#noteRefused(message);
  };

  readonly #upgrade = (message: FrontMessage, socket: Duplex, head: Buffer): void => {
    guard(socket);
    if (this.#isTooEarly(socket)) return;
    // Bytes after a handshake belong to the new protocol, so a body would be misread.
    if (hasBody(message) || !isHttp1(message)) {
      endWithResponse(socket, { status: BAD_REQUEST });
      this.#noteRefused(message);
      return;
    }
    this.#handlers.upgrade(message, socket, head);
  };

  #noteRefused({ socket: { remoteAddress = '' } }: FrontMessage): void {
    this.#handlers.refused?.(remoteAddress, BAD_REQUEST);
  }

  /** Destroys a connection on which an answer would be taken for that of an earlier request. */
  #isTooEarly(socket: Duplex): boolean {
    if (this.#connections.get(socket)?.isBusy !== true) return false;
    socket.destroy();
    return true;
  }

  #checkBodies(): void {
    for (const connection of this.#connections.values()) connection.checkBody();
  }
}

const BAD_REQUEST = 400;

/**
 * Returns whether a message has a version of HTTP/1. Attack: Node also reads a request line without a
 * version, and then header fields, which an HTTP/0.9 server takes for the next request.
 */
function isHttp1({ httpVersionMajor }: FrontMessage): boolean {
  return httpVersionMajor === 1;
}

const AFTER_CLOSE = 'HPE_CLOSED_CONNECTION';

const STATUS_OF_ERROR: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/** Returns undefined for errors of the connection itself: no answer would arrive. */
function statusOfParseError({ code = '' }: NodeJS.ErrnoException): number | undefined {
  return STATUS_OF_ERROR[code] ?? (code.startsWith('HPE_') ? BAD_REQUEST : undefined);
}

/** Node removes its own error listener from a socket that it hands over. */
function guard(socket: Duplex): void {
  socket.on('error', () => socket.destroy());
}
