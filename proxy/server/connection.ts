import type { Socket } from 'node:net';
import process from 'node:process';

import { isDistrusted } from '../http/distrust.ts';
import { closeGently, type Linger } from '../http/close-gently.ts';
import { hasBody } from '../http/has-body.ts';
import { endWithResponse } from '../http/raw-response.ts';
import type { FrontMessage } from './front-message.ts';
import type { FrontResponse } from './front-response.ts';
import { UNREADABLE_URL } from '../http/unreadable-url.ts';

const REQUEST_TIMEOUT = 408;

/** More than clients send that use pipelining; most send none. */
const MAX_WAITING = 16;

/** How often `closeIfIdle` is called within the time after which an idle connection is closed. */
export const LOOKS_FOR_IDLE = 4;

/** Serves one request. */
export type Serve = (message: FrontMessage, response: FrontResponse) => void;

/** Options of a `ClientConnection`. */
interface ConnectionOptions {
  readonly linger: Linger;
  readonly serve: Serve;
  /** Gets the status with which bytes were answered that are not a request. */
  readonly onRefused: (status: number) => void;
}

/** One connection of a client: its requests, which are served one after the other, and its end. */
export class ClientConnection {
  readonly #socket: Socket;
  readonly #linger: Linger;
  readonly #serve: Serve;
  readonly #onRefused: (status: number) => void;
  /** Response to the request that was received last. */
  #response: FrontResponse | undefined;
  /** Number of requests that wait for the response before theirs. */
  #waiting = 0;
  #isDiscarding = false;
  #isClosing = false;
  /** Bytes that are not a request were received: the connection closes after the current responses. */
  #isRefusing = false;
  /** Number of received bytes beyond which such a connection is destroyed. */
  #readLimit = 0;
  /** A response that had ended at the last check, before the body of its request. */
  #earlyResponse: FrontResponse | undefined;
  /** Number of bytes received at the last check, if the body was incomplete then. */
  #stalledAt: number | undefined;
  /** Node waits for the first or the next request. */
  #isIdle = true;
  /** Calls of `closeIfIdle` since nothing happened, and the number of bytes received at the last. */
  #idleLooks = 0;
  #bytesAtLook = 0;

  constructor(socket: Socket, { linger, serve, onRefused }: ConnectionOptions) {
    this.#socket = socket;
    this.#linger = linger;
    this.#serve = serve;
    this.#onRefused = onRefused;
    // Node calls this after each response, and with 0 at the next request. A timer for each costs as much as the
    // policy and the log, so `closeIfIdle` closes idle connections instead.
    socket.setTimeout = (ms) => {
      this.#isIdle = ms > 0;
      return socket;
    };
    // Node ends connections by this method: at once, and with a reset if bytes are unread.
    socket.destroySoon = () => {
      this.#close();
    };
  }

  /** Whether a response is not finished, so that nothing else may be written. */
  get isBusy(): boolean {
    return this.#response?.writableFinished === false;
  }

  /**
   * Serves the next request when the response before it is finished. Ignores it if the connection closes
   * after an earlier response: bytes after a refused request may be smuggled in its body.
   *
   * Attack: one connection with thousands of pipelined requests would have as many upstream connections, and
   * the bounds of connections would bound nothing. The connection closes after those that may wait. A request
   * with a body may not: Node would keep each chunk of it, at 400 bytes for one byte.
   */
  accept(message: FrontMessage, response: FrontResponse): void {
    this.#isIdle = false;
    const previous = this.#response;
    if (this.#isClosing || this.#isRefusing || (previous !== undefined && isLast(previous))) {
      this.#discardRest();
      return;
    }
    if (previous === undefined || previous.writableFinished) {
      this.#response = response;
      this.#serve(message, response);
      return;
    }
    if (this.#waiting === MAX_WAITING || hasBody(message)) {
      this.#closeAfter(previous);
      this.#discardRest();
      return;
    }
    this.#response = response;
    this.#waiting += 1;
    previous.once('close', () => {
      this.#waiting -= 1;
      if (this.#isClosing || this.#socket.destroyed || isLast(previous)) return;
      this.#serve(message, response);
    });
  }

  /**
   * Answers bytes that are not a request, and closes the connection. Earlier requests get their responses
   * first: a client takes the first response for that of its first request. Bytes after the current request
   * get no answer then.
   */
  refuse(status: number): void {
    if (this.#isClosing) return;
    if (this.#isRefusing) {
      this.#checkReadLimit();
      return;
    }
    this.#limitReading();
    const response = this.#response;
    if (response === undefined || response.writableFinished) {
      this.#refuseIdle(status);
    } else if (response.req.complete) {
      this.#closeAfter(response);
    } else {
      this.#refuseBody(status, response);
    }
  }

  /** Makes the current response the last, and ignores everything else that the client sends. */
  finish(): void {
    if (this.#response?.writableFinished === false) return;
    this.#close();
  }

  /**
   * Refuses a client with an incomplete body that has sent nothing since the last call. Closes the connection
   * if the body is incomplete although its response had ended at the last call.
   */
  checkBody(): void {
    const response = this.#response;
    const isEarly = response?.writableFinished === true && !response.req.complete;
    if (isEarly && this.#earlyResponse === response) this.#close();
    this.#earlyResponse = isEarly ? response : undefined;
    const bytes = this.#socket.bytesRead;
    const isStalled = this.#owesBody() && this.#stalledAt === bytes;
    this.#stalledAt = this.#owesBody() ? bytes : undefined;
    if (isStalled) this.refuse(REQUEST_TIMEOUT);
  }

  /**
   * Closes a connection that waited for a request at the last few calls too. One that has received a part of a
   * request has another limit.
   */
  closeIfIdle(): void {
    const { bytesRead } = this.#socket;
    const isUnchanged = this.#isIdle && bytesRead === this.#bytesAtLook;
    this.#idleLooks = isUnchanged ? this.#idleLooks + 1 : 0;
    this.#bytesAtLook = bytesRead;
    if (this.#idleLooks > LOOKS_FOR_IDLE) this.#socket.destroy();
  }

  /** Lets the time begin again after which `closeIfIdle` closes the connection. */
  restartIdleTime(): void {
    this.#idleLooks = 0;
  }

  /** Makes the current response the last. */
  announceClose(): void {
    if (this.#response?.headersSent === false) this.#response.shouldKeepAlive = false;
  }

  /** Closes a connection on which nothing was received. */
  closeUnused(): void {
    if (this.#socket.bytesRead === 0) this.#socket.destroy();
  }

  /** Answers where no request is being served. */
  #refuseIdle(status: number): void {
    const isSilent = status === REQUEST_TIMEOUT && this.#socket.bytesRead === 0;
    if (isSilent) {
      this.#socket.destroy();
      return;
    }
    if (this.#response?.shouldKeepAlive === false) {
      this.#close();
      return;
    }
    this.#isClosing = true;
    endWithResponse(this.#socket, { status, headers: UNREADABLE_URL }, this.#linger);
    this.#onRefused(status);
  }

  /** Answers the current request, which has a broken body; a response that has begun is broken off. */
  #refuseBody(status: number, { headersSent, writableEnded }: FrontResponse): void {
    if (headersSent && !writableEnded) {
      this.#socket.destroy();
      return;
    }
    if (writableEnded) {
      this.#close();
      return;
    }
    this.#isClosing = true;
    // The bytes before may have been forwarded.
    this.#socket.once('finish', () => this.#socket.destroy());
    endWithResponse(this.#socket, { status, headers: UNREADABLE_URL }, this.#linger);
  }

  /** Makes the response to the request that was received last the last one. */
  #closeAfter(response: FrontResponse): void {
    this.#isRefusing = true;
    this.announceClose();
    response.once('finish', () => this.#close());
  }

  /**
   * Reads and discards everything from now on; all accepted requests were received whole.
   *
   * Attack: Node keeps each ignored request, and looks through all of them for each one when the connection
   * ends. A few megabytes of requests stalled the process for a minute.
   */
  #discardRest(): void {
    if (this.#isDiscarding) return;
    this.#isDiscarding = true;
    this.#limitReading();
    // Not while the parser runs; and before the next bytes are read.
    process.nextTick(() => {
      this.#socket.removeAllListeners('data');
      this.#socket.on('data', () => this.#checkReadLimit()).resume();
    });
  }

  #limitReading(): void {
    this.#readLimit = this.#socket.bytesRead + this.#linger.lingerBytes;
  }

  /** Attack: while the response takes its time, a client could send without end. */
  #checkReadLimit(): void {
    if (this.#socket.bytesRead > this.#readLimit) this.#socket.destroy();
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    closeGently(this.#socket, this.#linger);
  }

  /** Returns whether the gateway waits for the body of the current request. */
  #owesBody(): boolean {
    if (this.#response === undefined || this.#response.writableEnded) return false;
    return this.#response.req.isAwaited;
  }
}

/** Returns whether a connection ends after a response. */
function isLast(response: FrontResponse): boolean {
  return isDistrusted(response.req) || (response.headersSent && !response.shouldKeepAlive);
}
