import type { OpenStream } from './open-streams.ts';

/** The longest end of an event: two line ends of two characters. */
const TAIL_LENGTH = 4;

/** A blank line ends an event; lines end in CRLF, LF or CR (HTML Standard, section 9.2.5). */
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/;
const LINE_ENDS_AT_END = /[\r\n]*$/;
const BLANK_LINE_AT_END = new RegExp(`${BLANK_LINE.source}$`);

/** Server-sent events on their way to a client, so that the stream can end after an event. */
export class EventStream implements OpenStream {
  readonly answersCall: boolean;
  readonly #onEnd: () => void;
  /** The last characters that were sent. */
  #tail = '';
  #isEnding = false;
  #isOver = false;

  /** `onEnd` ends the response, when the last event has been sent. */
  constructor(answersCall: boolean, onEnd: () => void) {
    this.answersCall = answersCall;
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
    const last = chunk.subarray(-TAIL_LENGTH).toString('latin1');
    this.#tail = (this.#tail + last).slice(-TAIL_LENGTH);
    return chunk.subarray(0, length);
  }

  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#isOver = this.#tail === '' || BLANK_LINE_AT_END.test(this.#tail);
    if (this.#isOver) this.#onEnd();
  }

  /** Length of the rest of the current event; undefined if the chunk does not complete it. */
  #restOfEvent(chunk: Buffer): number | undefined {
    const [lineEnd = ''] = LINE_ENDS_AT_END.exec(this.#tail) ?? [];
    const match = BLANK_LINE.exec(lineEnd + chunk.toString('latin1'));
    return match === null ? undefined : match.index + match[0].length - lineEnd.length;
  }
}
