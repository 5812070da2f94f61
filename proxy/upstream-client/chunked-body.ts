import { MalformedResponseError } from './malformed-response-error.ts';

const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const OVER = 6;

const LF = 10;
const CR = 13;
const SEMICOLON = 59;

const HEXADECIMAL = 16;

/** Longest line before a chunk: signatures in extensions take about 100 bytes. */
const MAX_LINE_BYTES = 1_024;

/** RFC 9112, section 7.1.1, without the white space that only old parsers know. */
const EXTENSIONS =
  /^(?:;[!#$%&'*+\-.^_`|~\w]+(?:=(?:[!#$%&'*+\-.^_`|~\w]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)+$/;

/** Values of hexadecimal digits by byte; -1 for other bytes. */
const DIGITS = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = String.fromCharCode(byte);
  return /[0-9a-f]/i.test(digit) ? parseInt(digit, HEXADECIMAL) : -1;
});

/**
 * Decodes a chunked body up to its last chunk (RFC 9112, section 7.1), in any number of parts.
 *
 * Attack: chunks of one byte, which cost hundreds of bytes each where they are passed on one by one. The
 * data of all chunks in one part are moved together in place, and passed on as one.
 */
export class ChunkedBody {
  readonly #onData: (data: Buffer) => void;
  #state = OVER;
  /** Of the chunk: what its digits say so far, then how many bytes of its data are still to come. */
  #remaining = 0;
  #lineLength = 0;
  #extensions = '';
  /** The data in the part that is read are from here ... */
  #from = 0;
  /** ... to here. */
  #to = 0;

  constructor(onData: (data: Buffer) => void) {
    this.#onData = onData;
  }

  /** Whether the last chunk was read. Trailers follow. */
  get isOver(): boolean {
    return this.#state === OVER;
  }

  /** Prepares for the body of the next response. */
  begin(): void {
    this.#state = SIZE;
    this.#beginLine();
  }

  /** Reads a part from `start`, and returns where it stopped. Throws `MalformedResponseError`. */
  read(bytes: Buffer, start: number): number {
    this.#from = this.#to = start;
    try {
      let at = start;
      while (at < bytes.length && this.#state !== OVER) {
        at = this.#state === DATA ? this.#readData(bytes, at) : this.#readByte(bytes[at] ?? 0, at);
      }
      return at;
    } finally {
      // What came before a malformed chunk is passed on too, however the bytes were split.
      if (this.#to > this.#from) this.#onData(bytes.subarray(this.#from, this.#to));
    }
  }

  #readData(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#remaining, bytes.length);
    if (this.#to === this.#from) {
      this.#from = at;
      this.#to = end;
    } else {
      bytes.copyWithin(this.#to, at, end);
      this.#to += end - at;
    }
    this.#remaining -= end - at;
    if (this.#remaining === 0) this.#state = DATA_CR;
    return end;
  }

  #readByte(byte: number, at: number): number {
    switch (this.#state) {
      case SIZE:
        this.#readSize(byte);
        break;
      case EXTENSION:
        this.#readExtension(byte);
        break;
      case SIZE_LF:
        this.#expect(byte, LF);
        this.#state = this.#remaining === 0 ? OVER : DATA;
        break;
      case DATA_CR:
        this.#expect(byte, CR);
        this.#state = DATA_LF;
        break;
      default:
        this.#expect(byte, LF);
        this.#state = SIZE;
        this.#beginLine();
    }
    return at + 1;
  }

  #beginLine(): void {
    this.#remaining = 0;
    this.#lineLength = 0;
    this.#extensions = '';
  }

  #readSize(byte: number): void {
    const digit = DIGITS[byte] ?? -1;
    if (digit !== -1) {
      this.#countLine();
      this.#remaining = this.#remaining * HEXADECIMAL + digit;
      if (!Number.isSafeInteger(this.#remaining)) throw new MalformedResponseError('bad-chunk');
      return;
    }
    if (this.#lineLength === 0) throw new MalformedResponseError('bad-chunk');
    if (byte === SEMICOLON) {
      this.#state = EXTENSION;
      this.#readExtension(byte);
    } else {
      this.#expect(byte, CR);
      this.#state = SIZE_LF;
    }
  }

  #readExtension(byte: number): void {
    if (byte !== CR) {
      this.#countLine();
      this.#extensions += String.fromCharCode(byte);
      return;
    }
    if (!EXTENSIONS.test(this.#extensions)) throw new MalformedResponseError('bad-chunk');
    this.#state = SIZE_LF;
  }

  #countLine(): void {
    this.#lineLength += 1;
    if (this.#lineLength > MAX_LINE_BYTES) throw new MalformedResponseError('bad-chunk');
  }

  #expect(byte: number, expected: number): void {
    if (byte !== expected) throw new MalformedResponseError('bad-chunk');
  }
}
