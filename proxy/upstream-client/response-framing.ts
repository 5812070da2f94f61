import { MalformedResponseError } from './malformed-response-error.ts';

const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const TIMEOUT = /(?:^|[,;\t ])timeout=(\d{1,9})(?:$|[,;\t ])/i;

const ZERO = 48;
const TEN = 10;

/** What the fields of a head say about its body and about the connection. Filled anew for each head. */
export class ResponseFraming {
  /** `Content-Length`; undefined if there is none. */
  length: number | undefined;
  isChunked = false;
  /** The upstream closes the connection after this response. */
  closes = false;
  /** `timeout` of `Keep-Alive`; undefined if there is none. */
  keepAliveSeconds: number | undefined;

  /**
   * Reads the fields of a head, a flat list. Throws `MalformedResponseError` for fields that two parsers could
   * read differently (RFC 9112, section 6.3).
   */
  read(fields: readonly string[], isHttp10: boolean): void {
    this.#reset();
    for (let at = 0; at < fields.length; at += 2) {
      this.#note(fields[at] ?? '', fields[at + 1] ?? '');
    }
    // Servers of HTTP/1.0 close the connection, unless they were asked not to.
    if (isHttp10) this.closes = true;
    if (!this.isChunked) return;
    if (this.length !== undefined) throw new MalformedResponseError('length-and-chunks');
    if (isHttp10) throw new MalformedResponseError('chunked-in-http-1.0');
  }

  get hasBody(): boolean {
    return this.isChunked || (this.length !== undefined && this.length > 0);
  }

  #reset(): void {
    this.length = this.keepAliveSeconds = undefined;
    this.isChunked = this.closes = false;
  }

  /** The usual spelling is compared first, because most names have it. */
  #note(name: string, value: string): void {
    switch (name.length) {
      case 'Connection'.length:
        this.#noteConnection(name, value);
        break;
      case 'Content-Length'.length:
        if (name === 'Content-Length' || name.toLowerCase() === 'content-length') {
          this.#noteLength(value);
        }
        break;
      case 'Transfer-Encoding'.length:
        if (name === 'Transfer-Encoding' || name.toLowerCase() === 'transfer-encoding') {
          this.#noteCoding(value);
        }
        break;
      default:
    }
  }

  #noteConnection(name: string, value: string): void {
    if (name === 'Connection' || name.toLowerCase() === 'connection') {
      if (value !== 'keep-alive' && CLOSE.test(value)) this.closes = true;
    } else if (name === 'Keep-Alive' || name.toLowerCase() === 'keep-alive') {
      const seconds = TIMEOUT.exec(value)?.[1];
      if (seconds !== undefined) this.keepAliveSeconds = Number(seconds);
    }
  }

  /** A list of the same length twice is refused too (RFC 9110, section 8.6). */
  #noteLength(value: string): void {
    const length = wholeNumber(value);
    if (this.length !== undefined || !Number.isSafeInteger(length)) {
      throw new MalformedResponseError('bad-content-length');
    }
    this.length = length;
  }

  /** No `TE` field is sent, so `chunked` is the only coding (RFC 9112, section 7.4). */
  #noteCoding(value: string): void {
    if (this.isChunked || value.toLowerCase() !== 'chunked') {
      throw new MalformedResponseError('bad-transfer-encoding');
    }
    this.isChunked = true;
  }
}

/** Throws `MalformedResponseError` for trailers that a recipient could take for framing. */
export function refuseFramingFields(trailers: readonly string[]): void {
  for (let at = 0; at < trailers.length; at += 2) {
    if (/^(?:content-length|transfer-encoding)$/i.test(trailers[at] ?? '')) {
      throw new MalformedResponseError('framing-in-trailers');
    }
  }
}

/** Returns the value of decimal digits; NaN if there are none, or others. */
function wholeNumber(text: string): number {
  let value = text === '' ? NaN : 0;
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    value = digit >= 0 && digit < TEN ? value * TEN + digit : NaN;
  }
  return value;
}
