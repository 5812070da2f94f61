import { MalformedResponseError } from './malformed-response-error.ts';

const CLOSE = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;
const TIMEOUT = /(?:^|[,;\t ])timeout=(\d{1,9})(?:$|[,;\t ])/i;
const DIGITS = /^\d+$/;

/** What the fields of a head say about its body and about the connection. Filled anew for each head. */
export class ResponseFraming {
  /** `Content-Length`; undefined if there is none. */
  length: number | undefined;
  isChunked = false;
  /** The upstream closes the connection after this response. */
  closes = false;
  /** `timeout` of `Keep-Alive`; undefined if there is none. */
  keepAliveSeconds: number | undefined;
  #isHttp10 = false;

  /** An HTTP/1.0 server closes the connection, unless it was asked not to. */
  begin(isHttp10: boolean): void {
    this.length = undefined;
    this.isChunked = false;
    this.#isHttp10 = isHttp10;
    this.closes = isHttp10;
    this.keepAliveSeconds = undefined;
  }

  get hasBody(): boolean {
    return this.isChunked || (this.length !== undefined && this.length > 0);
  }

  /**
   * Throws `MalformedResponseError` for fields that contradict each other or the version (RFC 9112, section
   * 6.1).
   */
  check(): void {
    if (!this.isChunked) return;
    if (this.length !== undefined) throw new MalformedResponseError('length-and-chunks');
    if (this.#isHttp10) throw new MalformedResponseError('chunked-in-http-1.0');
  }

  /** Notes a field if it is about framing. Throws `MalformedResponseError` if it is ambiguous. */
  note(name: string, value: string): void {
    switch (name.length) {
      case 'connection'.length:
        this.#noteConnection(name.toLowerCase(), value);
        break;
      case 'content-length'.length:
        if (name.toLowerCase() === 'content-length') this.#noteLength(value);
        break;
      case 'transfer-encoding'.length:
        if (name.toLowerCase() === 'transfer-encoding') this.#noteCoding(value);
        break;
      default:
    }
  }

  #noteConnection(name: string, value: string): void {
    if (name === 'connection') this.closes ||= CLOSE.test(value);
    else if (name === 'keep-alive') {
      const seconds = TIMEOUT.exec(value)?.[1];
      if (seconds !== undefined) this.keepAliveSeconds = Number(seconds);
    }
  }

  /** A list of the same length twice is refused too (RFC 9110, section 8.6). */
  #noteLength(value: string): void {
    const length = DIGITS.test(value) ? Number(value) : NaN;
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
