import { Buffer } from 'node:buffer';

import { HeldBytes } from './held-bytes.ts';
import { MalformedResponseError } from './malformed-response-error.ts';

const KIBIBYTE = 1_024;

/**
 * Limit of a head, and of trailers: 16 KiB of names and values, which Node's clients accept too, and what
 * separates them.
 */
const MAX_BYTES = 20 * KIBIBYTE;

/** Longer sections are not remembered: it bounds what an idle connection holds. */
const MAX_REMEMBERED_BYTES = 2 * KIBIBYTE;

/** In the prefix of the start line. */
const PREFIX = 0;
const NAME = 1;
/** In the start line or a value, which are text. */
const TEXT = 2;
/** After the CR of a line. */
const LINE_END = 3;
/** After the CR of the blank line. */
const SECTION_END = 4;
const WHOLE = 5;

const HTAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const COLON = 58;

const LINE_BREAK_BYTES = 2;

/** Bytes of start lines and values: all but control characters (RFC 9110, section 5.5). */
const IS_TEXT = byteTable(/[\t\x20-\x7e\x80-\xff]/);

/** Bytes of names (RFC 9110, section 5.6.2). */
const IS_TOKEN = byteTable(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/);

/**
 * Reads the lines of a head or of trailers, up to the blank line (RFC 9112, section 2.1), in any number of
 * parts. Each byte is looked at once, and refused at once if it cannot be there.
 *
 * Heads of a server often repeat. A section that is the same as the one before is not looked at again.
 */
export class FieldSection {
  readonly #prefix: Buffer;
  /** The beginning of a section that did not come in one part. */
  readonly #held = new HeldBytes();
  #state = WHOLE;
  /** Where the section begins in the buffer that is read. Other positions count from there. */
  #base = 0;
  /** How many bytes were looked at. */
  #length = 0;
  #lineStart = 0;
  /** Where the name in the current line ends; 0 in the start line. */
  #nameEnd = 0;
  /** Where names and values begin and end, in turn. */
  readonly #marks: number[] = [];
  #markCount = 0;
  #isSame = false;
  /** The last section without its blank line, if it is remembered. */
  #text = '';
  #startLine = '';
  #fields: readonly string[] = [];

  /** `prefix` begins the start line; empty if there is none. */
  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix, 'latin1');
  }

  /** The start line, in ISO 8859-1, without its line break; empty if there is none. */
  get startLine(): string {
    return this.#startLine;
  }

  /** Names and values in turn, in ISO 8859-1, without the spaces around them. */
  get fields(): readonly string[] {
    return this.#fields;
  }

  /** Whether the section is the same as the one before. The list of fields is the same object then. */
  get isSame(): boolean {
    return this.#isSame;
  }

  get isWhole(): boolean {
    return this.#state === WHOLE;
  }

  /** Whether a section has begun, and is not whole. */
  get isOpen(): boolean {
    return this.#state !== WHOLE && this.#length > 0;
  }

  /** Prepares for the next section. One that is not remembered is forgotten. */
  begin(): void {
    if (this.#text === '') {
      this.#startLine = '';
      this.#fields = [];
      // Attack: thousands of fields would leave as much memory with each idle connection.
      this.#marks.length = 0;
    }
    this.#state = this.#prefix.length > 0 ? PREFIX : NAME;
    this.#length = this.#lineStart = this.#nameEnd = this.#markCount = 0;
  }

  /**
   * Reads a part, and returns where it stopped: at the end of the section, or of the part. Throws
   * `MalformedResponseError`.
   */
  read(bytes: Buffer, start: number): number {
    const before = this.#length;
    if (before > 0) return this.#readOn(bytes, start);
    this.#isSame = this.#repeats(bytes, start);
    if (this.#isSame) {
      this.#state = WHOLE;
      return start + this.#text.length + LINE_BREAK_BYTES;
    }
    const end = Math.min(bytes.length, start + MAX_BYTES);
    this.#base = start;
    this.#scan(bytes, end);
    if (this.#state === WHOLE) return start + this.#length;
    this.#held.add(bytes.subarray(start, end));
    return end;
  }

  #readOn(bytes: Buffer, start: number): number {
    const before = this.#length;
    const end = Math.min(bytes.length, start + MAX_BYTES - before);
    this.#base = 0;
    this.#scan(this.#held.add(bytes.subarray(start, end)), before + end - start);
    if (this.#state !== WHOLE) return end;
    this.#held.clear();
    return start + this.#length - before;
  }

  /** Returns whether the same section as before begins at `start`. */
  #repeats(bytes: Buffer, start: number): boolean {
    const text = this.#text;
    const end = start + text.length;
    if (text === '' || bytes[end] !== CR || bytes[end + 1] !== LF) return false;
    return bytes.toString('latin1', start, end) === text;
  }

  /** Looks at the bytes from the last one that was looked at to `end`. */
  #scan(bytes: Buffer, end: number): void {
    let at = this.#base + this.#length;
    while (at < end && this.#state !== WHOLE) {
      if (this.#state === TEXT) at = endOfRun(IS_TEXT, bytes, at, end);
      else if (this.#state === NAME) at = endOfRun(IS_TOKEN, bytes, at, end);
      if (at === end) break;
      this.#scanByte(bytes, at);
      at += 1;
    }
    this.#length = at - this.#base;
    if (this.#state === WHOLE) this.#take(bytes);
    else if (this.#length === MAX_BYTES) throw new MalformedResponseError('too-large');
  }

  /** Looks at a byte that is not in the middle of a name or text. */
  #scanByte(bytes: Buffer, at: number): void {
    switch (this.#state) {
      case NAME:
        this.#endName(bytes[at] ?? 0, at - this.#base);
        break;
      case TEXT:
        refuseUnless(bytes[at] === CR, bytes[at]);
        if (this.#nameEnd > 0) this.#markField(bytes, at);
        this.#state = LINE_END;
        break;
      case LINE_END:
        refuseUnless(bytes[at] === LF, LF);
        this.#lineStart = at + 1 - this.#base;
        this.#state = NAME;
        break;
      case SECTION_END:
        refuseUnless(bytes[at] === LF, LF);
        this.#state = WHOLE;
        break;
      default:
        this.#scanPrefix(bytes[at], at - this.#base);
    }
  }

  #scanPrefix(byte: number | undefined, at: number): void {
    if (byte !== this.#prefix[at]) throw new MalformedResponseError('not-http');
    if (at + 1 === this.#prefix.length) this.#state = TEXT;
  }

  #endName(byte: number, at: number): void {
    const isEmpty = at === this.#lineStart;
    if (byte === COLON && !isEmpty) {
      this.#nameEnd = at;
      this.#state = TEXT;
    } else if (byte === CR && isEmpty) {
      this.#state = SECTION_END;
    } else {
      refuseUnless(IS_TEXT[byte] === 1 || byte === CR, byte);
      throw new MalformedResponseError(
        isEmpty && isSpace(byte) ? 'folded-field' : 'bad-field-name',
      );
    }
  }

  /**
   * Marks the name and the value of a line that ends at `end`. A tab at the end stays: llhttp does not take
   * such a `chunked` for the coding.
   */
  #markField(bytes: Buffer, end: number): void {
    const base = this.#base;
    let from = base + this.#nameEnd + 1;
    let to = end;
    while (from < to && isSpace(bytes[from])) from += 1;
    while (to > from && bytes[to - 1] === SPACE) to -= 1;
    const marks = this.#marks;
    marks[this.#markCount++] = this.#lineStart;
    marks[this.#markCount++] = this.#nameEnd;
    marks[this.#markCount++] = from - base;
    marks[this.#markCount++] = to - base;
  }

  /** Takes the strings of a whole section. */
  #take(bytes: Buffer): void {
    const text = bytes.toString('latin1', this.#base, this.#base + this.#length - LINE_BREAK_BYTES);
    const marks = this.#marks;
    const fields: string[] = [];
    for (let at = 0; 2 * at < this.#markCount; at += 1) {
      fields[at] = text.substring(marks[2 * at] ?? 0, marks[2 * at + 1] ?? 0);
    }
    this.#fields = fields;
    this.#startLine = this.#prefix.length > 0 ? text.substring(0, text.indexOf('\r')) : '';
    this.#text = text.length > MAX_REMEMBERED_BYTES ? '' : text;
  }
}

/** Returns the first index from `at` whose byte is not in a table; `end` if there is none. */
function endOfRun(table: Uint8Array, bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && table[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

/** Throws for a byte that is where only an LF, or no control character, can be. */
function refuseUnless(isRight: boolean, byte: number | undefined): void {
  if (isRight) return;
  throw new MalformedResponseError(byte === LF ? 'bare-line-break' : 'control-character');
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === HTAB;
}

function byteTable(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) =>
    pattern.test(String.fromCharCode(byte)) ? 1 : 0,
  );
}
