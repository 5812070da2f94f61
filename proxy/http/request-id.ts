import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

const BYTES = 16;
const RANDOM = Buffer.alloc(256 * BYTES);
let used = RANDOM.length;

/** The text that is being made: 8, 4, 4, 4 and 12 hexadecimal digits. */
const TEXT = Buffer.from('00000000-0000-0000-0000-000000000000');
/** Where the two digits of each byte are in the text. */
const PLACES = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);
/** The two digits of each value of a byte. */
const DIGITS = Buffer.from(
  Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0')).join(''),
);

/**
 * Makes the id of a request: a random UUID (RFC 9562, section 5.4).
 *
 * Node's own is a tree of twenty parts. Each text that has it walks through them, and that is four times for a
 * request: in its log, in two header fields, and in the span.
 */
export function makeRequestId(): string {
  if (used === RANDOM.length) {
    randomFillSync(RANDOM);
    used = 0;
  }
  for (let index = 0; index < BYTES; index += 1) {
    const byte = withVersion(index, RANDOM[used + index] ?? 0);
    const place = PLACES[index] ?? 0;
    TEXT[place] = DIGITS[2 * byte] ?? 0;
    TEXT[place + 1] = DIGITS[2 * byte + 1] ?? 0;
  }
  used += BYTES;
  return TEXT.toString('latin1');
}

const VERSION_AT = 6;
const VARIANT_AT = 8;

function withVersion(index: number, byte: number): number {
  if (index === VERSION_AT) return (byte & 0x0f) | 0x40;
  return index === VARIANT_AT ? (byte & 0x3f) | 0x80 : byte;
}
