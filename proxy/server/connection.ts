import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { isDistrusted } from '../http/distrust.ts';
import { closeGently, type Linger } from '../http/close-gently.ts';
import { endWithResponse } from '../http/raw-response.ts';
import { UNREADABLE_URL } from '../http/unreadable-url.ts';

const REQUEST_TIMEOUT = 408;

/** One connection of a client: its current response, and its end. */
export class ClientConnection {
  readonly #socket: Socket;
  readonly #linger: Linger;
  #response: ServerResponse | undefined;
  /** The response before that. */
  #previous: ServerResponse | undefined;
  #isClosing = false;
  /** Bytes that are not a request were received: the connection closes after the current responses. */
  #isRefusing = false;
  /** Number of received bytes beyond which such a connection is destroyed. */
  #readLimit = 0;
  /** A response that had ended at the last check, before the body of its request. */
  #earlyResponse: ServerResponse | undefined;
  /** Number of bytes received at the last check, if the body was incomplete then. */
  #stalledAt: number | undefined;

  constructor(socket: Socket, linger: Linger) {
    this.#socket = socket;
    this.#linger = linger;
    // Node ends connections by this method: at once, and with a reset if bytes are unread.
    socket.destroySoon = () => {
      this.#close();
    };
  }

  /**
   * Accepts the next request. Returns false when the connection closes after an earlier response: bytes
   * after a refused request may be smuggled in its body.
   */
  accept(response: ServerResponse): boolean {
    const previous = this.#response;
    if (this.#isClosing || this.#isRefusing) return false;
    if (previous !== undefined && isLast(previous)) return false;
    this.#previous = previous;
    this.#response = response;
    return true;
  }

  /**
   * Answers bytes that are not a request, and closes the connection. Earlier requests get their responses
   * first: a client takes the first response for that of its first request. Bytes after the current request
   * get no answer then.
   */
  refuse(status: number): void {
    if (this.#isClosing) return;
    if (this.#isRefusing) {
      // Attack: while the response takes its time, a client could send without end.
      if (this.#socket.bytesRead > this.#readLimit) this.#socket.destroy();
      return;
    }
    this.#readLimit = this.#socket.bytesRead + this.#linger.lingerBytes;
    const response = this.#response;
    if (response === undefined || response.writableFinished) {
      this.#refuseIdle(status);
    } else if (response.req.complete) {
      this.#isRefusing = true;
      this.announceClose();
      response.once('finish', () => this.#close());
    } else if (response.socket === null) {
      // An earlier response comes first.
      this.#isRefusing = true;
      this.#previous?.once('finish', () => {
        this.#isRefusing = false;
        this.refuse(status);
      });
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

  /** Makes the current response the last. */
  announceClose(): void {
    if (this.#response?.headersSent === false) this.#response.shouldKeepAlive = false;
  }

  /** Closes a connection on which nothing was received. */
  closeUnused(): void {
    if (this.#socket.bytesRead === 0) this.#socket.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
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
  }

  /** Answers the current request, which has a broken body; a response that has begun is broken off. */
  #refuseBody(status: number, { headersSent, writableEnded }: ServerResponse): void {
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

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    closeGently(this.#socket, this.#linger);
  }

  /** Returns whether the gateway waits for the body; false while a slow upstream delays the client. */
  #owesBody(): boolean {
    if (this.#response === undefined || this.#response.writableEnded) return false;
    const { complete, readableFlowing, readableLength } = this.#response.req;
    return !complete && readableFlowing === true && readableLength === 0;
  }
}

/** Returns whether a connection ends after a response. */
function isLast(response: ServerResponse): boolean {
  return isDistrusted(response.req) || (response.headersSent && !response.shouldKeepAlive);
}
