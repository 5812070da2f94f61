import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

const HEXADECIMAL = 16;
const WORD_BYTES = 4;
const WORD_DIGITS = 8;
const SPAN_ID_BYTES = 8;
const TRACE_ID_BYTES = 16;

/** Bytes of the next ids: filling many at once costs little more than filling few. */
const RANDOM = Buffer.alloc(8 * 1024);
/** V8 compiles its reads into their callers, which it does not with those of buffers. */
const WORDS = new DataView(RANDOM.buffer, RANDOM.byteOffset, RANDOM.byteLength);
let used = RANDOM.length;
/**
 * Some of these bytes as hexadecimal digits: a piece of a text costs a twentieth of a text of its own. They are few,
 * because an id that is kept for long keeps all of them.
 */
let digits = '';
const DIGITS_BYTES = 512;
let digitsStart = 0;

/**
 * The id of a span: 16 hexadecimal digits, and the same as two signed 32-bit words, which cost less to write. An id
 * is zero, which is forbidden, as rarely as two ids are equal.
 */
export class SpanId {
  readonly text: string;
  readonly high: number;
  readonly low: number;

  private constructor(text: string, high: number, low: number) {
    this.text = text;
    this.high = high;
    this.low = low;
  }

  static random(): SpanId {
    const at = next(SPAN_ID_BYTES);
    return new SpanId(digitsAt(at, SPAN_ID_BYTES), wordAt(at), wordAt(at + WORD_BYTES));
  }

  /** Reads an id of 16 hexadecimal digits. */
  static parse(text: string): SpanId {
    return new SpanId(text, parseWord(text, 0), parseWord(text, 1));
  }
}

/** The id of a trace: 32 hexadecimal digits, and the same as four signed 32-bit words. */
export class TraceId {
  readonly text: string;
  readonly words: readonly [number, number, number, number];

  private constructor(text: string, words: TraceId['words']) {
    this.text = text;
    this.words = words;
  }

  static random(): TraceId {
    const at = next(TRACE_ID_BYTES);
    const second = at + WORD_BYTES;
    const third = second + WORD_BYTES;
    const words = [wordAt(at), wordAt(second), wordAt(third), wordAt(third + WORD_BYTES)] as const;
    return new TraceId(digitsAt(at, TRACE_ID_BYTES), words);
  }

  /** Reads an id of 32 hexadecimal digits. */
  static parse(text: string): TraceId {
    const words = [0, 1, 2, 3].map((index) => parseWord(text, index));
    const [first = 0, second = 0, third = 0, fourth = 0] = words;
    return new TraceId(text, [first, second, third, fourth]);
  }
}

/** Returns where the next random bytes are. */
function next(size: number): number {
  if (used + size > RANDOM.length) {
    randomFillSync(RANDOM);
    used = 0;
    readDigits(0);
  } else if (used + size > digitsStart + DIGITS_BYTES) readDigits(used);
  const at = used;
  used += size;
  return at;
}

function readDigits(start: number): void {
  digits = RANDOM.toString('hex', start, start + DIGITS_BYTES);
  digitsStart = start;
}

function digitsAt(at: number, size: number): string {
  const start = (at - digitsStart) * 2;
  return digits.slice(start, start + size * 2);
}

function wordAt(at: number): number {
  return WORDS.getInt32(at);
}

function parseWord(text: string, index: number): number {
  const word = text.slice(index * WORD_DIGITS, (index + 1) * WORD_DIGITS);
  return Number.parseInt(word, HEXADECIMAL) | 0;
}
