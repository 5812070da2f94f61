import { ChunkedBody } from './chunked-body.ts';
import { FieldSection } from './field-section.ts';
import { refuseFramingFields, ResponseFraming } from './response-framing.ts';
import { MalformedResponseError } from './malformed-response-error.ts';
import type { ResponseListener } from './response-listener.ts';

/** No response is expected, or none can be read. */
const IDLE = 0;
const HEAD = 1;
/** A body whose length is known. */
const COUNTED = 2;
const CHUNKED = 3;
/** After the last chunk: a blank line, or trailers. */
const AFTER_CHUNKS = 4;
/** After the CR of a blank line in the place of trailers. */
const LAST_LF = 5;
const TRAILERS = 6;
/** A body that only the end of the connection ends. */
const ENDLESS = 7;

const LF = 10;
const CR = 13;
const SPACE = 32;

const ZERO = 48;

const VERSION_PREFIX = 'HTTP/1.';
const MINOR_VERSION_AT = VERSION_PREFIX.length;
const STATUS_AT = 'HTTP/1.1 '.length;
const STATUS_END = STATUS_AT + 'nnn'.length;
const TEN = 10;
const HUNDRED = 100;
const FIRST_STATUS = 100;
const LAST_STATUS = 599;

const SWITCHING_PROTOCOLS = 101;
const FIRST_FINAL = 200;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** Bounds what an upstream can have sent to the client before a response: hints (103) are passed on. */
const MAX_INFORMATIONAL = 100;

const NO_TRAILERS: readonly string[] = [];

/**
 * Reads the responses on a connection of HTTP/1.1, one after the other, and reports them to a listener.
 * It refuses what two parsers could read differently (RFC 9112, sections 4 to 7 and 11.2), and bounds what
 * it holds. It is not for responses to CONNECT.
 *
 * After it has thrown, it reports nothing, and the connection must not be used again.
 */
export class ResponseParser {
  readonly #listener: ResponseListener;
  readonly #framing = new ResponseFraming();
  readonly #head = new FieldSection(VERSION_PREFIX);
  /** Absent before the first chunked body. */
  #chunks: ChunkedBody | undefined;
  readonly #trailers = new FieldSection('');
  #state = IDLE;
  /** Of the last head. */
  #status = 0;
  #reason = '';
  #isHead = false;
  #informational = 0;
  /** Bytes of the counted body that are still to come. */
  #remaining = 0;
  #isSpent = false;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  /** Whether a request may be sent now: no response is expected, and the connection stays open. */
  get isReusable(): boolean {
    return this.#state === IDLE && !this.#isSpent;
  }

  /** How long the upstream keeps the connection open, if its last response said so (`Keep-Alive`). */
  get keepAliveSeconds(): number | undefined {
    return this.#framing.keepAliveSeconds;
  }

  /**
   * Prepares for the response to a request, before the request is sent. Throws if the connection is not
   * reusable.
   */
  expectResponse(method: string): void {
    if (!this.isReusable) throw new Error('the connection cannot take a request');
    this.#head.begin();
    this.#state = HEAD;
    this.#isHead = method === 'HEAD';
    this.#informational = 0;
  }

  /**
   * Reads what arrived, and reports it. The data of chunks are moved within the buffer. Throws
   * `MalformedResponseError`.
   */
  feed(bytes: Buffer): void {
    if (bytes.length === 0) return;
    try {
      if (this.#state === IDLE) throw new MalformedResponseError('unexpected-bytes');
      let at = 0;
      do at = this.#read(bytes, at);
      while (at < bytes.length && this.#state !== IDLE);
    } catch (error) {
      this.#stop();
      throw error;
    }
  }

  /**
   * Reads the orderly end of the connection, which ends a body without length. Throws
   * `MalformedResponseError` if a response was expected and is not whole.
   */
  finish(): void {
    const state = this.#state;
    this.#stop();
    if (state === ENDLESS) this.#listener.onEnd(NO_TRAILERS);
    else if (state === HEAD) {
      const hasBegun = this.#head.isOpen || this.#informational > 0;
      throw new MalformedResponseError(hasBegun ? 'cut-head' : 'no-response');
    } else if (state !== IDLE) throw new MalformedResponseError('cut-body');
  }

  #stop(): void {
    this.#state = IDLE;
    this.#isSpent = true;
  }

  /** Reads bytes from `start` in the current state, and returns where it stopped. */
  #read(bytes: Buffer, start: number): number {
    switch (this.#state) {
      case HEAD:
        return this.#readHead(bytes, start);
      case COUNTED:
        return this.#readCounted(bytes, start);
      case CHUNKED:
        return this.#readChunks(bytes, start);
      case AFTER_CHUNKS:
        if (bytes[start] !== CR) {
          this.#trailers.begin();
          this.#state = TRAILERS;
          return start;
        }
        this.#state = LAST_LF;
        return start + 1;
      case LAST_LF:
        if (bytes[start] !== LF) throw new MalformedResponseError('bare-line-break');
        return this.#end(bytes, start + 1, NO_TRAILERS);
      case TRAILERS:
        return this.#readTrailers(bytes, start);
      default:
        this.#listener.onBody(start === 0 ? bytes : bytes.subarray(start));
        return bytes.length;
    }
  }

  #readHead(bytes: Buffer, start: number): number {
    const head = this.#head;
    const at = head.read(bytes, start);
    if (!head.isWhole) return at;
    if (!head.isSame) this.#readFacts(head);
    const { fields } = head;
    head.begin();
    const status = this.#status;
    const framing = this.#framing;
    // Such a body is not read (RFC 9112, section 6.3), but may come nevertheless.
    if (isBodiless(status) && framing.hasBody) this.#isSpent = true;
    if (status < FIRST_FINAL) {
      this.#reportInformation(status, fields);
      return at;
    }
    this.#state = this.#isHead || isBodiless(status) ? IDLE : this.#beginBody();
    this.#listener.onHead(status, this.#reason, fields);
    return this.#state === IDLE ? this.#end(bytes, at, NO_TRAILERS) : at;
  }

  #readFacts({ startLine, fields }: FieldSection): void {
    this.#status = statusOf(startLine);
    this.#reason = startLine.slice(STATUS_END + 1);
    this.#framing.read(fields, startLine.charCodeAt(MINOR_VERSION_AT) === ZERO);
  }

  #reportInformation(status: number, rawHeaders: readonly string[]): void {
    if (status === SWITCHING_PROTOCOLS) throw new MalformedResponseError('unexpected-upgrade');
    if (this.#framing.closes) throw new MalformedResponseError('closing-information');
    this.#informational += 1;
    if (this.#informational > MAX_INFORMATIONAL) {
      throw new MalformedResponseError('too-many-informational');
    }
    this.#listener.onInformation(status, rawHeaders);
  }

  /** Returns the state in which the body is read; `IDLE` if it is empty. */
  #beginBody(): number {
    const { isChunked, length } = this.#framing;
    if (isChunked) {
      this.#chunks ??= new ChunkedBody((data) => this.#listener.onBody(data));
      this.#chunks.begin();
      return CHUNKED;
    }
    if (length === undefined) return ENDLESS;
    this.#remaining = length;
    return length === 0 ? IDLE : COUNTED;
  }

  #readCounted(bytes: Buffer, start: number): number {
    const end = Math.min(bytes.length, start + this.#remaining);
    this.#remaining -= end - start;
    const isWhole = start === 0 && end === bytes.length;
    this.#listener.onBody(isWhole ? bytes : bytes.subarray(start, end));
    return this.#remaining === 0 ? this.#end(bytes, end, NO_TRAILERS) : end;
  }

  #readChunks(bytes: Buffer, start: number): number {
    const chunks = this.#chunks;
    if (chunks === undefined) return bytes.length;
    const end = chunks.read(bytes, start);
    if (chunks.isOver) this.#state = AFTER_CHUNKS;
    return end;
  }

  #readTrailers(bytes: Buffer, start: number): number {
    const trailers = this.#trailers;
    const end = trailers.read(bytes, start);
    if (!trailers.isWhole) return end;
    const { fields } = trailers;
    trailers.begin();
    refuseFramingFields(fields);
    return this.#end(bytes, end, fields);
  }

  /** Ends the response. What follows it was not asked for. */
  #end(bytes: Buffer, at: number, trailers: readonly string[]): number {
    this.#state = IDLE;
    if (this.#framing.closes || at < bytes.length) this.#isSpent = true;
    this.#listener.onEnd(trailers);
    return at;
  }
}

/** Returns the status (RFC 9112, section 4). The reason phrase may be absent, with its space. */
function statusOf(startLine: string): number {
  const minor = startLine.charCodeAt(MINOR_VERSION_AT) - ZERO;
  if ((minor !== 0 && minor !== 1) || startLine.charCodeAt(MINOR_VERSION_AT + 1) !== SPACE) {
    throw new MalformedResponseError('not-http');
  }
  const status =
    HUNDRED * digitAt(startLine, STATUS_AT) +
    TEN * digitAt(startLine, STATUS_AT + 1) +
    digitAt(startLine, STATUS_AT + 2);
  const isEnd = startLine.length === STATUS_END || startLine.charCodeAt(STATUS_END) === SPACE;
  if (isEnd && status >= FIRST_STATUS && status <= LAST_STATUS) return status;
  throw new MalformedResponseError('bad-status');
}

/** Returns the value of a digit, or NaN. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - ZERO;
  return digit >= 0 && digit < TEN ? digit : NaN;
}

/** Whether a response has no body whatever its fields say (RFC 9112, section 6.3). */
function isBodiless(status: number): boolean {
  return status < FIRST_FINAL || status === NO_CONTENT || status === NOT_MODIFIED;
}
