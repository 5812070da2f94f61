import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { isDistrusted } from '../http/distrust.ts';
import { closeGently } from '../http/close-gently.ts';
import { endWithResponse } from '../http/raw-response.ts';

const REQUEST_TIMEOUT = 408;

/** One connection of a client: its current response, and its end. */
export class ClientConnection {
  readonly #socket: Socket;
  readonly #lingerMs: number;
  #response: ServerResponse | undefined;
  #isClosing = false;
  /** Number of bytes received at the last check, if the body was incomplete then. */
  #stalledAt: number | undefined;

  constructor(socket: Socket, lingerMs: number) {
    this.#socket = socket;
    this.#lingerMs = lingerMs;
    // Node ends connections by this method: at once, and with a reset if bytes are unread.
    socket.destroySoon = () => {
      if (!this.#isClosing) closeGently(socket, lingerMs);
      this.#isClosing = true;
    };
  }

  /**
   * Accepts the next request. Returns false when the connection closes after an earlier response: bytes
   * after a refused request may be smuggled in its body.
   */
  accept(response: ServerResponse): boolean {
    const previous = this.#response;
    if (this.#isClosing || (previous !== undefined && isLast(previous))) return false;
    this.#response = response;
    return true;
  }

  /** Answers bytes that are not a request, and closes the connection. */
  refuse(status: number): void {
    if (this.#isClosing) return;
    const {
      writableEnded = true,
      headersSent = false,
      shouldKeepAlive = true,
    } = this.#response ?? {};
    const isSilent = status === REQUEST_TIMEOUT && this.#socket.bytesRead === 0;
    if ((headersSent && !writableEnded) || isSilent) {
      this.#socket.destroy();
      return;
    }
    this.#isClosing = true;
    // The broken bytes may belong to the body of a request that is being forwarded.
    if (!writableEnded) this.#socket.once('finish', () => this.#socket.destroy());
    if (writableEnded && !shouldKeepAlive) closeGently(this.#socket, this.#lingerMs);
    else endWithResponse(this.#socket, { status }, this.#lingerMs);
  }

  /** Makes the current response the last, and ignores everything else that the client sends. */
  finish(): void {
    if (this.#response?.writableEnded === false) return;
    closeGently(this.#socket, this.#lingerMs);
  }

  /** Refuses a client with an incomplete body that has sent nothing since the last call. */
  checkBody(): void {
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
