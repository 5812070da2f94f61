import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;

/** Small, because an id that is kept for long keeps all digits of its filling in memory. */
const RANDOM = Buffer.alloc(512);
/** Hexadecimal digits for the next ids. A piece of a text costs a twentieth of a text of its own. */
let digits = '';
let used = 0;

/** Returns a random trace id. It is zero, which is forbidden, as rarely as two ids are equal. */
export function randomTraceId(): string {
  return nextDigits(TRACE_ID_DIGITS);
}

/** Returns a random span id. */
export function randomSpanId(): string {
  return nextDigits(SPAN_ID_DIGITS);
}

function nextDigits(count: number): string {
  if (used + count > digits.length) {
    digits = randomFillSync(RANDOM).toString('hex');
    used = 0;
  }
  const id = digits.slice(used, used + count);
  used += count;
  return id;
}
