import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

import { asError } from '../errors/as-error.ts';
import { ConnectionError, connectError } from './connection-error.ts';
import type { Deadline } from './deadlines.ts';
import { allowsReuse, type OutgoingRequest } from './outgoing-request.ts';
import { ReadBuffer } from './read-buffer.ts';
import { RequestUpload, type UploadListener } from './request-upload.ts';
import type { ResponseControl, ResponseHandler } from './response-handler.ts';
import type { ResponseListener } from './response-listener.ts';
import { ResponseParser } from './response-parser.ts';
import type { SocketOpener } from './socket-opener.ts';

/** A request with its head written out, and who hears of its response. */
export interface PreparedRequest {
  readonly request: OutgoingRequest;
  readonly head: string;
  readonly handler: ResponseHandler;
}

/** Keeps the connections of one origin. */
export interface ConnectionOwner {
  /** The connection has a new deadline. */
  noteDeadline(deadline: number): void;
  /** The connection can take a request, for `keepAliveSeconds` if the upstream said so. */
  onIdle(connection: UpstreamConnection, keepAliveSeconds: number | undefined): void;
  onClosed(connection: UpstreamConnection): void;
}

/** Timeout of a connection attempt. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Bodies up to this length are sent as one string with their heads: Node copies it only once. */
const MAX_JOINED_BYTES = 16 * 1024;

/**
 * One connection to an upstream. It carries one request at a time, and is used again only if the last
 * response ended exactly where its framing says, and nothing came in the meantime.
 */
export class UpstreamConnection
  implements ResponseControl, ResponseListener, UploadListener, Deadline
{
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #buffer = new ReadBuffer();
  readonly #parser = new ResponseParser(this);
  /** The request that is sent, or that waits for this connection to be made. */
  #current: PreparedRequest | undefined;
  /** Present while a body is streamed to the upstream. */
  #upload: RequestUpload | undefined;
  #isConnected = false;
  #isClosed = false;
  #isPaused = false;
  /** Nothing more is read until the socket is resumed. */
  #isStopped = false;
  /** Whether a byte of the response has arrived. */
  #hasBegun = false;
  #hasHead = false;
  #error: Error | undefined;
  deadline: number;

  /** Connects, and then sends a first request. */
  constructor(owner: ConnectionOwner, opener: SocketOpener, first: PreparedRequest) {
    this.#owner = owner;
    this.#current = first;
    this.#socket = opener.open(
      this.#buffer,
      (length) => {
        const isPaused = this.#isPaused;
        this.#read(length);
        this.#isStopped = isPaused && this.#isPaused;
        if (this.#isStopped) this.#buffer.stop();
        return !this.#isStopped;
      },
      () => this.#onConnected(),
    );
    this.#socket.on('error', (error) => (this.#error ??= error));
    this.#socket.on('end', () => this.#onEndOfInput());
    this.#socket.on('close', () => this.#fail(this.#lost()));
    this.deadline = performance.now() + CONNECT_TIMEOUT_MS;
    owner.noteDeadline(this.deadline);
  }

  get isIdle(): boolean {
    return this.#current === undefined && !this.#isClosed;
  }

  /** Sends a request on an idle connection. */
  send(prepared: PreparedRequest): void {
    const { request, head, handler } = prepared;
    this.#current = prepared;
    this.deadline = Infinity;
    if (!handler.onRequestStart(this)) {
      this.#current = undefined;
      this.#becomeIdle();
      return;
    }
    this.#hasBegun = this.#hasHead = false;
    this.#parser.expectResponse(request.method);
    this.#write(head, request.body);
  }

  get paused(): boolean {
    return this.#isPaused;
  }

  /** Takes effect after one more read: without a read, the end of the connection would go unnoticed. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#buffer.release();
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.#socket.resume();
  }

  abort(): void {
    this.#current = undefined;
    this.close();
  }

  /** Closes the connection; its request fails with the error. */
  close(error = new ConnectionError('closed')): void {
    this.#fail(error);
  }

  expire(): void {
    if (this.isIdle) this.close();
    else if (this.#isConnected) this.#fail(new ConnectionError('response-timeout'));
    else this.#fail(new ConnectionError('no-connection'));
  }

  onInformation(status: number, rawHeaders: readonly string[]): void {
    if (this.#upload === undefined) this.#awaitHead();
    this.#current?.handler.onInformation(status, rawHeaders);
  }

  onHead(status: number, reason: string, rawHeaders: readonly string[]): void {
    this.#hasHead = true;
    this.deadline = Infinity;
    this.#current?.handler.onResponseStart(status, reason, rawHeaders);
  }

  onBody(chunk: Buffer): void {
    this.#current?.handler.onResponseData(this.#buffer.keep(chunk));
    if (this.#isPaused) this.#buffer.hold();
  }

  onEnd(trailers: readonly string[]): void {
    const current = this.#current;
    if (current === undefined) return;
    this.#current = undefined;
    const mayReuse = this.#upload === undefined && allowsReuse(current.request);
    if (!mayReuse || !this.#parser.isReusable) this.close();
    current.handler.onResponseEnd(trailers);
  }

  onStalled(): void {
    this.#awaitHead();
  }

  onDrained(): void {
    this.deadline = Infinity;
  }

  onSent(): void {
    this.#upload = undefined;
    this.#awaitHead();
  }

  onUploadError(error: Error): void {
    this.#fail(error);
  }

  #onConnected(): void {
    this.#isConnected = true;
    const first = this.#current;
    if (first !== undefined) this.send(first);
  }

  #write(head: string, body: OutgoingRequest['body']): void {
    const socket = this.#socket;
    if (body === undefined) {
      socket.write(head, 'latin1');
    } else if (!Buffer.isBuffer(body)) {
      this.#upload = new RequestUpload(socket, body, this);
      this.#upload.start(head);
      return;
    } else if (body.length <= MAX_JOINED_BYTES) {
      socket.write(head + body.toString('latin1'), 'latin1');
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    this.#awaitHead();
  }

  /** Limits how long the head of the response may take from now on. */
  #awaitHead(): void {
    const timeoutMs = this.#current?.request.responseTimeoutMs ?? 0;
    if (timeoutMs === 0 || this.#hasHead) return;
    this.deadline = performance.now() + timeoutMs;
    this.#owner.noteDeadline(this.deadline);
  }

  #read(length: number): void {
    this.#hasBegun = true;
    try {
      // Throws if no response is due: the bytes would become the response to the next request.
      this.#parser.feed(this.#buffer.read(length));
    } catch (error) {
      this.#fail(asError(error));
      return;
    }
    if (this.isIdle) this.#becomeIdle();
  }

  /** The upstream has sent its last byte, which may be the end of a body. */
  #onEndOfInput(): void {
    if (this.#current !== undefined && this.#hasBegun) {
      try {
        this.#parser.finish();
      } catch (error) {
        this.#fail(asError(error));
      }
    }
    this.#fail(this.#lost());
  }

  #becomeIdle(): void {
    if (this.#isPaused) this.#buffer.giveAway();
    this.resume();
    this.#owner.onIdle(this, this.#parser.keepAliveSeconds);
  }

  /** Why there is no whole response if the connection is closed now. */
  #lost(): ConnectionError {
    if (!this.#isConnected) return connectError(this.#error);
    return new ConnectionError(this.#hasBegun ? 'response-cut' : 'connection-lost', this.#error);
  }

  /** Closes the connection, and reports the error if a request is under way. */
  #fail(error: Error): void {
    const current = this.#current;
    this.#current = undefined;
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.deadline = Infinity;
      this.#upload?.stop();
      this.#upload = undefined;
      this.#socket.destroy();
      this.#owner.onClosed(this);
    }
    current?.handler.onResponseError(error);
  }
}
