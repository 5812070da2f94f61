import { constants, type ServerHttp2Stream } from 'node:http2';

import { closeAnswered } from './close-answered.ts';
import type { Http2Message } from './http2-message.ts';
import type { Http2Response } from './http2-response.ts';

/** A rest of a body up to this length is read and discarded after the response, as in HTTP/1.1. */
const DISCARDABLE_BYTES = 64 * 1024;

/** Calls of `check` at which a response waits for its client, before its stream is reset. */
const MAX_STALLED_CHECKS = 10;

const REQUEST_TIMEOUT = 408;

/** A request and its response on one stream. */
export class Http2Exchange {
  readonly #stream: ServerHttp2Stream;
  readonly #message: Http2Message;
  readonly #response: Http2Response;
  /** Bytes of the body that had arrived at the last check, if more were awaited. */
  #stalledAt: number | undefined;
  /** The response had ended at the last check, before the body of its request. */
  #isEarly = false;
  #stalledChecks = 0;
  #waitingAtCheck = 0;

  constructor(stream: ServerHttp2Stream, message: Http2Message, response: Http2Response) {
    this.#stream = stream;
    this.#message = message;
    this.#response = response;
    stream.once('finish', () => this.#endBody());
  }

  /** Whether the client waits for the response. */
  get isPending(): boolean {
    return !this.#response.headersSent && !this.#stream.closed;
  }

  /** Ends both sides; `isCutOff`: the connection ended before the stream. */
  close(isCutOff: boolean): void {
    const { rstCode, writableFinished } = this.#stream;
    this.#message.close();
    this.#response.close(rstCode === constants.NGHTTP2_NO_ERROR && (writableFinished || !isCutOff));
  }

  /** Ends a stream whose client has sent or taken nothing since the last call, or the last few. */
  check(): void {
    this.#checkBody();
    this.#checkResponse();
  }

  #checkBody(): void {
    const message = this.#message;
    const response = this.#response;
    if (response.writableEnded) {
      if (this.#isEarly && !message.complete) closeAnswered(this.#stream);
      this.#isEarly = true;
      return;
    }
    const isStalled = message.isAwaited && this.#stalledAt === message.receivedBytes;
    this.#stalledAt = message.isAwaited ? message.receivedBytes : undefined;
    if (!isStalled) return;
    // The bytes before may have been forwarded, so a response that has begun is broken off.
    if (response.headersSent) {
      response.destroy();
      return;
    }
    this.#stream.respond({ ':status': REQUEST_TIMEOUT }, { endStream: true });
    closeAnswered(this.#stream);
  }

  /** Attack: to leave a window shut costs a client nothing, and keeps a stream and its upstream for ever. */
  #checkResponse(): void {
    const waiting = this.#response.waitingBytes;
    const isStalled = waiting > 0 && waiting === this.#waitingAtCheck;
    this.#waitingAtCheck = waiting;
    this.#stalledChecks = isStalled ? this.#stalledChecks + 1 : 0;
    if (this.#stalledChecks >= MAX_STALLED_CHECKS) this.#response.destroy();
  }

  /**
   * Tells the client of an early response that the rest of its body is not needed (RFC 9113, section 8.1). A
   * short rest is on its way already.
   */
  #endBody(): void {
    const message = this.#message;
    if (message.complete || this.#stream.destroyed) return;
    const length = Number(message.headers['content-length'] ?? Infinity);
    if (length > DISCARDABLE_BYTES) closeAnswered(this.#stream);
    else message.resume();
  }
}
