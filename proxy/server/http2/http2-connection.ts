import {
  constants,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Duplex } from 'node:stream';

import type { Linger } from '../../http/close-gently.ts';
import type { ConnectionFacts } from '../../http/connection-facts.ts';
import { awaitContinue, noteUnknownExpectation } from '../../http/expect-continue.ts';
import { UNREADABLE_URL } from '../../http/unreadable-url.ts';
import { closeAnswered } from './close-answered.ts';
import { Http2Exchange } from './http2-exchange.ts';
import { Http2Message } from './http2-message.ts';
import { Http2Response } from './http2-response.ts';
import { CONNECTION_WINDOW_BYTES, MAX_HEAD_BYTES, SESSION_OPTIONS } from './http2-settings.ts';
import { isKnownMethod, readStreamHead } from './stream-head.ts';

/** PING and SETTINGS frames that a client may send between two looks. Each has an answer. */
const MAX_ANSWERED_FRAMES = 1_000;

/** Looks without a new stream after which a client pauses: half a second. */
const LOOKS_FOR_PAUSE = 100;

/** The same for a client that waits for its last response. */
const LOOKS_WHILE_WAITING = 2;

const BAD_REQUEST = 400;
const TOO_MANY_REQUESTS = 429;
const HEAD_TOO_LONG = 431;

/** Serves one request. */
type Serve = (message: Http2Message, response: Http2Response) => void;

/** Options of an `Http2Connection`. */
interface Http2ConnectionOptions {
  readonly facts: ConnectionFacts;
  readonly linger: Linger;
  readonly serve: Serve;
  /** Gets the status with which something was answered that is not a request. */
  readonly onRefused: (status: number) => void;
}

/** One connection of a client that speaks HTTP/2: its requests, which are served at the same time, and its end. */
export class Http2Connection {
  readonly #socket: Duplex;
  readonly #session: ServerHttp2Session;
  readonly #options: Http2ConnectionOptions;
  readonly #exchanges = new Set<Http2Exchange>();
  #hadStream = false;
  #isNextLast = false;
  #newest: Http2Exchange | undefined;
  /** Counts streams that were opened or closed. */
  #changes = 0;
  #changesAtLook = 0;
  #quietLooks = 0;
  #idleLooks = 0;
  #unusedLooks = 0;
  #answeredFrames = 0;
  #lingering: NodeJS.Timeout | undefined;

  constructor(socket: Duplex, options: Http2ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    const session = performServerHandshake(socket, SESSION_OPTIONS);
    this.#session = session;
    session.once('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
    session.on('stream', this.#accept);
    session.on('ping', this.#countAnswered).on('remoteSettings', this.#countAnswered);
    session.on('error', () => this.#noteFailure());
    socket.once('close', () => clearTimeout(this.#lingering));
  }

  /**
   * Finishes the connection if its client pauses, since what it sends at that moment would not be served. No stream
   * was opened or closed at the last few calls then; fewer are enough while it waits for its last response.
   */
  finishAtPause(): void {
    if (!this.#hadStream || this.#session.closed) return;
    this.#quietLooks = this.#changes === this.#changesAtLook ? this.#quietLooks + 1 : 0;
    this.#changesAtLook = this.#changes;
    const isWaiting = this.#newest?.isPending === true;
    if (this.#quietLooks >= (isWaiting ? LOOKS_WHILE_WAITING : LOOKS_FOR_PAUSE)) this.finish();
  }

  /** Makes the next stream the last one. */
  finishWithNext(): void {
    this.#isNextLast = true;
  }

  /** Serves the streams that are open, and no more; then closes the connection. */
  finish(): void {
    if (this.#session.destroyed) return;
    this.#session.close();
    this.#lingerAfterLast();
  }

  /** Closes a connection without streams when it had none at the last `looks` calls too. */
  closeIfIdle(looks: number): void {
    this.#answeredFrames = 0;
    if (this.#session.destroyed) {
      // Attack: Node waits without limit for a client that takes nothing more.
      this.#socket.destroy();
      return;
    }
    this.#idleLooks = this.#exchanges.size === 0 ? this.#idleLooks + 1 : 0;
    if (this.#idleLooks > looks) this.finish();
  }

  /** Destroys a connection that had no stream so far, if it was there at the last `looks` calls too. */
  closeIfUnused(looks: number): void {
    this.#unusedLooks += 1;
    if (!this.#hadStream && this.#unusedLooks > looks) this.destroy();
  }

  /** Looks for streams whose client does not send its body, or does not take its response. */
  checkStreams(): void {
    for (const exchange of this.#exchanges) exchange.check();
  }

  destroy(): void {
    if (!this.#session.destroyed) this.#session.destroy();
    this.#socket.destroy();
  }

  readonly #accept = (
    stream: ServerHttp2Stream,
    _fields: unknown,
    _flags: unknown,
    fields: readonly string[] = [],
  ): void => {
    stream.on('error', () => undefined);
    this.#hadStream = true;
    this.#changes += 1;
    // Attack: streams that are reset as soon as they are opened cost nothing more than this.
    if (stream.destroyed || stream.closed) return;
    if (this.#isNextLast) this.finish();
    const head = readStreamHead(fields, !stream.endAfterHeaders);
    if (head.bytes > MAX_HEAD_BYTES) this.#refuse(stream, HEAD_TOO_LONG);
    else if (!isKnownMethod(head.method)) this.#refuse(stream, BAD_REQUEST);
    else this.#serve(stream, new Http2Message(stream, head, this.#options.facts));
  };

  #serve(stream: ServerHttp2Stream, message: Http2Message): void {
    const response = new Http2Response(stream, message);
    const exchange = new Http2Exchange(stream, message, response);
    this.#exchanges.add(exchange);
    this.#newest = exchange;
    stream.once('close', () => {
      this.#exchanges.delete(exchange);
      if (this.#newest === exchange) this.#newest = undefined;
      this.#changes += 1;
      exchange.close(this.#session.destroyed);
      this.#lingerAfterLast();
    });
    const { expect } = message.headers;
    if (expect?.toLowerCase() === '100-continue') {
      awaitContinue(message, () => response.sendContinue());
    } else if (expect !== undefined) {
      noteUnknownExpectation(message);
    }
    this.#options.serve(message, response);
  }

  #refuse(stream: ServerHttp2Stream, status: number): void {
    stream.respond({ ':status': status, ...UNREADABLE_URL }, { endStream: true });
    if (!stream.endAfterHeaders) closeAnswered(stream);
    this.#options.onRefused(status);
  }

  /** Attack: frames that must be answered, without any request. */
  readonly #countAnswered = (): void => {
    this.#answeredFrames += 1;
    if (this.#answeredFrames <= MAX_ANSWERED_FRAMES || this.#session.destroyed) return;
    this.#options.onRefused(TOO_MANY_REQUESTS);
    const error = new Error('the client sent too many frames that must be answered');
    this.#session.destroy(error, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };

  #noteFailure(): void {
    if (this.#answeredFrames <= MAX_ANSWERED_FRAMES) this.#options.onRefused(BAD_REQUEST);
    this.#socket.destroy();
  }

  /** Attack: Node waits without limit for the client to close its side. */
  #lingerAfterLast(): void {
    if (!this.#session.closed || this.#exchanges.size > 0 || this.#socket.destroyed) return;
    this.#lingering ??= setTimeout(() => this.#socket.destroy(), this.#options.linger.lingerMs);
  }
}
