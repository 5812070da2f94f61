import type { SpanId, TraceId } from '../ids.ts';

const FIRST_SIZE = 16 * 1024;
/** Enough for a tag, a length or a number. */
const ROOM = 16;
const MAX_UTF8_OF_UTF16 = 3;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
const LOW_BITS = 0x7f;
const CONTINUES = 0x80;
const VARINT_BITS = 7;
const BITS = 64;
const NOT_ASCII = 0x80;
/** Longer texts are written by native code. */
const SHORT_TEXT = 48;
const ONE_BYTE = 0x80;
const TWO_BYTES = 0x4000;
const WORD = 2 ** 32;

/**
 * Writes protobuf messages (protobuf.dev, Encoding) into one growing buffer.
 *
 * Tags are given as numbers: the number of the field times eight, plus its wire type.
 */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE);
  #view = viewOf(this.#bytes);
  #length = 0;

  /** Bytes that are written. */
  get length(): number {
    return this.#length;
  }

  /** Returns what was written after that length. It is valid until more is written. */
  since(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#length);
  }

  /** Returns a copy of what is written, and starts anew. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return taken;
  }

  /** Writes a number that is not negative, and below 2^31: a value, or the length of a message that follows. */
  varint(tag: number, value: number): void {
    this.#reserve(ROOM);
    this.#varint(tag);
    this.#varint(value);
  }

  /** Writes a whole number of which `varint` does not know. */
  int64(tag: number, value: number): void {
    this.#reserve(ROOM);
    this.#varint(tag);
    let rest = BigInt.asUintN(BITS, BigInt(value));
    while (rest >= BigInt(CONTINUES)) {
      this.#byte(Number(rest & BigInt(LOW_BITS)) | CONTINUES);
      rest >>= BigInt(VARINT_BITS);
    }
    this.#byte(Number(rest));
  }

  fixed32(tag: number, value: number): void {
    this.#reserve(ROOM);
    this.#varint(tag);
    this.#view.setUint32(this.#skip(4), value, true);
  }

  /** Writes a whole number that is not negative; it may be above 2^53. */
  fixed64(tag: number, value: number): void {
    this.#reserve(ROOM);
    this.#varint(tag);
    const at = this.#skip(8);
    const high = Math.floor(value / WORD);
    const view = this.#view;
    view.setUint32(at, value - high * WORD, true);
    view.setUint32(at + 4, high, true);
  }

  double(tag: number, value: number): void {
    this.#reserve(ROOM);
    this.#varint(tag);
    this.#view.setFloat64(this.#skip(8), value, true);
  }

  traceId(tag: number, { words }: TraceId): void {
    this.#reserve(ROOM * 2);
    this.#varint(tag);
    this.#byte(TRACE_ID_BYTES);
    const at = this.#skip(TRACE_ID_BYTES);
    const view = this.#view;
    view.setInt32(at, words[0]);
    view.setInt32(at + 4, words[1]);
    view.setInt32(at + 8, words[2]);
    view.setInt32(at + 12, words[3]);
  }

  spanId(tag: number, { high, low }: SpanId): void {
    this.#reserve(ROOM);
    this.#varint(tag);
    this.#byte(SPAN_ID_BYTES);
    const at = this.#skip(SPAN_ID_BYTES);
    const view = this.#view;
    view.setInt32(at, high);
    view.setInt32(at + 4, low);
  }

  text(tag: number, text: string): void {
    this.#reserve(ROOM + text.length * MAX_UTF8_OF_UTF16);
    this.#varint(tag);
    const start = this.#length + 1;
    const size = this.#ascii(text, start) ? text.length : this.#bytes.write(text, start);
    this.#length = start + size;
    this.#bytes[start - 1] = size;
    if (size >= ONE_BYTE) this.close(start);
  }

  /** Writes a text if it is short ASCII, as most are: that costs a third of a call of native code. */
  #ascii(text: string, start: number): boolean {
    if (text.length > SHORT_TEXT) return false;
    const bytes = this.#bytes;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code >= NOT_ASCII) return false;
      bytes[start + index] = code;
    }
    return true;
  }

  /** Writes bytes that are part of a message already. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Starts a message inside of the one that is being written, and returns where. */
  open(tag: number): number {
    this.#reserve(ROOM);
    this.#varint(tag);
    this.#length += 1;
    return this.#length;
  }

  /** Ends the message that started there: its length is written before it. */
  close(start: number): void {
    const size = this.#length - start;
    if (size < ONE_BYTE) this.#bytes[start - 1] = size;
    else this.#moveBy(start, 1);
  }

  /** Ends a message whose length has another width than what was left for it. */
  #moveBy(start: number, left: number): void {
    const size = this.#length - start;
    this.#reserve(ROOM);
    const at = start - left;
    this.#bytes.copyWithin(at + widthOf(size), start, this.#length);
    this.#length = at;
    this.#varint(size);
    this.#length += size;
  }

  /** Starts a message that is probably longer than 127 bytes: ending it then moves nothing. */
  openLong(tag: number): number {
    this.#reserve(ROOM);
    this.#varint(tag);
    this.#length += 2;
    return this.#length;
  }

  closeLong(start: number): void {
    const size = this.#length - start;
    if (size >= ONE_BYTE && size < TWO_BYTES) {
      this.#bytes[start - 2] = (size & LOW_BITS) | CONTINUES;
      this.#bytes[start - 1] = size >>> VARINT_BITS;
      return;
    }
    this.#moveBy(start, 2);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= CONTINUES) {
      this.#byte((rest & LOW_BITS) | CONTINUES);
      rest >>>= VARINT_BITS;
    }
    this.#byte(rest);
  }

  /** Leaves room for so many bytes, and returns where it is. */
  #skip(size: number): number {
    const at = this.#length;
    this.#length = at + size;
    return at;
  }

  #byte(value: number): void {
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  #reserve(size: number): void {
    const needed = this.#length + size;
    if (needed > this.#bytes.length) this.#grow(needed);
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = viewOf(grown);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Returns how many bytes a varint has. */
function widthOf(value: number): number {
  let width = 1;
  for (let rest = value; rest >= CONTINUES; rest >>>= VARINT_BITS) width += 1;
  return width;
}
