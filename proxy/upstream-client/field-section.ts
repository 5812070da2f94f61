import { MalformedResponseError } from './malformed-response-error.ts';

const KIBIBYTE = 1_024;

/**
 * Limit of a head, and of trailers: 16 KiB of names and values, which Node's clients accept too, and what
 * separates them.
 */
const MAX_SECTION_BYTES = 20 * KIBIBYTE;

const BLANK_LINE = Buffer.from('\r\n\r\n');
const LINE_BREAK_BYTES = 2;
const FIRST_ROOM_BYTES = 512;

const HTAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DELETE = 127;

/** Control characters, and CR without LF or LF without CR. Lines end in CR and LF. */
// eslint-disable-next-line no-control-regex -- they are what is searched for.
const WRONG = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;

/**
 * Finds the blank line that ends a head or trailers, in any number of parts.
 *
 * Attack: a head of one byte at a time. Each byte is searched once and copied twice at most, and what can no
 * longer become a section is refused at once, not at the limit.
 */
export class FieldSection {
  readonly #prefix: string;
  /** The part of a section that was read, when it was not whole. */
  #held: Buffer | undefined;
  #length = 0;
  #end = 0;

  /** A section that does not begin with `prefix` is refused with `not-http`. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Where the section ends in the bytes that were read last, once it is whole. */
  get end(): number {
    return this.#end;
  }

  /** Whether a section has begun, and is not whole. */
  get isOpen(): boolean {
    return this.#length > 0;
  }

  /**
   * Returns the lines of the section in ISO 8859-1, each with its line break, without the blank line;
   * undefined if it is not whole yet. Throws `MalformedResponseError`.
   */
  read(bytes: Buffer, start: number): string | undefined {
    if (this.#length > 0) return this.#readOn(bytes, start);
    const blank = bytes.indexOf(BLANK_LINE, start);
    if (blank === -1) return this.#readOn(bytes, start);
    this.#end = blank + BLANK_LINE.length;
    if (this.#end - start > MAX_SECTION_BYTES) throw new MalformedResponseError('too-large');
    return this.#checked(bytes.toString('latin1', start, blank + LINE_BREAK_BYTES));
  }

  #checked(text: string): string {
    if (!text.startsWith(this.#prefix)) throw new MalformedResponseError('not-http');
    if (WRONG.test(text)) refuseWrongByte(Buffer.from(text, 'latin1'), 0, text.length);
    return text;
  }

  #readOn(bytes: Buffer, start: number): string | undefined {
    const before = this.#length;
    const held = this.#hold(bytes, start);
    const from = Math.max(before - BLANK_LINE.length + 1, 0);
    const blank = held.subarray(0, this.#length).indexOf(BLANK_LINE, from);
    if (blank === -1) {
      this.#refuseEarly(held, before);
      this.#end = bytes.length;
      return undefined;
    }
    this.#end = start + blank + BLANK_LINE.length - before;
    this.#held = undefined;
    this.#length = 0;
    return this.#checked(held.toString('latin1', 0, blank + LINE_BREAK_BYTES));
  }

  /** Appends what there is of a section, up to the limit, with twice the room each time. */
  #hold(bytes: Buffer, start: number): Buffer {
    const before = this.#length;
    const length = Math.min(before + bytes.length - start, MAX_SECTION_BYTES);
    let held = this.#held;
    if (held === undefined || held.length < length) {
      const room = Buffer.allocUnsafeSlow(Math.max(FIRST_ROOM_BYTES, length, 2 * before));
      held?.copy(room, 0, 0, before);
      this.#held = held = room;
    }
    bytes.copy(held, before, start, start + length - before);
    this.#length = length;
    return held;
  }

  #refuseEarly(held: Buffer, from: number): void {
    const begin = held.toString('latin1', 0, Math.min(this.#length, this.#prefix.length));
    if (!this.#prefix.startsWith(begin)) throw new MalformedResponseError('not-http');
    // A CR at the end of what was read before is judged by the next byte.
    refuseWrongByte(held, Math.max(from - 1, 0), this.#length);
    if (this.#length === MAX_SECTION_BYTES) throw new MalformedResponseError('too-large');
  }
}

/** Throws if there is a wrong byte. A CR at the end is none yet. */
function refuseWrongByte(bytes: Buffer, from: number, to: number): void {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === LF ? bytes[at - 1] !== CR : byte === CR && at + 1 < to && bytes[at + 1] !== LF) {
      throw new MalformedResponseError('bare-line-break');
    }
    if (isControl(byte)) throw new MalformedResponseError('control-character');
  }
}

function isControl(byte: number): boolean {
  if (byte === DELETE) return true;
  return byte < SPACE && byte !== HTAB && byte !== LF && byte !== CR;
}
