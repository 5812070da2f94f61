import { Buffer } from 'node:buffer';

import type { OpenStream } from './open-streams.ts';

/** The longest end of an event: two line ends of two characters. */
const TAIL_LENGTH = 4;
const BITS_OF_BYTE = 8;
/** Two line feeds. */
const AFTER_EVENT = 0x0a_0a;
/** Nothing of a stream was sent that should not end so. */
const BEFORE_FIRST_EVENT = 0;

/** A blank line ends an event; lines end in CRLF, LF or CR (HTML Standard, section 9.2.5). */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/;
const LINE_ENDS_AT_END = /[\r\n]*$/;
const BLANK_LINE_AT_END = new RegExp(`${BLANK_LINE.source}$`);

/** What a stream of events is to its client. */
interface EventStreamOptions {
  readonly answersCall: boolean;
  /** Whether the client sent `Last-Event-ID`: it continues a stream that ended before. */
  readonly isResumed: boolean;
}

/** Server-sent events on their way to a client, so that the stream can end after an event. */
export class EventStream implements OpenStream {
  readonly kind = 'events';
  readonly answersCall: boolean;
  readonly #onEnd: () => void;
  /**
   * The last bytes that were sent; at first, those after an event, unless the stream should bring one. A number,
   * because a text for each chunk would be needed only when the stream ends.
   */
  #tail: number;
  #isEnding = false;
  #isOver = false;

  /** `onEnd` ends the response, when the last event has been sent. */
  constructor({ answersCall, isResumed }: EventStreamOptions, onEnd: () => void) {
    this.answersCall = answersCall;
    this.#tail = isResumed ? BEFORE_FIRST_EVENT : AFTER_EVENT;
    this.#onEnd = onEnd;
  }

  /** Whether the last event was sent, so that nothing may follow. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the part of a chunk to send: all of it, or up to the end of the last event. */
  pass(chunk: Buffer): Buffer {
    const length = this.#isEnding ? this.#restOfEvent(chunk) : undefined;
    this.#isOver = length !== undefined;
    this.#noteTail(chunk);
    return chunk.subarray(0, length);
  }

  end(mayWait = false): void {
    if (this.#isOver) return;
    this.#isEnding = true;
    this.#isOver =
      this.#tail === BEFORE_FIRST_EVENT ? !mayWait : BLANK_LINE_AT_END.test(this.#tailText());
    if (this.#isOver) this.#onEnd();
  }

  #noteTail(chunk: Buffer): void {
    let tail = this.#tail;
    for (let at = Math.max(0, chunk.length - TAIL_LENGTH); at < chunk.length; at += 1) {
      tail = (tail << BITS_OF_BYTE) | (chunk[at] ?? 0);
    }
    this.#tail = tail;
  }

  #tailText(): string {
    const bytes = Buffer.allocUnsafe(TAIL_LENGTH);
    bytes.writeInt32BE(this.#tail);
    return bytes.toString('latin1');
  }

  /** Length of the rest of the current event; undefined if the chunk does not complete it. */
  #restOfEvent(chunk: Buffer): number | undefined {
    const [lineEnd = ''] = LINE_ENDS_AT_END.exec(this.#tailText()) ?? [];
    const match = BLANK_LINE.exec(lineEnd + chunk.toString('latin1'));
    return match === null ? undefined : match.index + match[0].length - lineEnd.length;
  }
}
