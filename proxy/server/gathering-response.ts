import { ServerResponse } from 'node:http';

import type { FrontMessage } from './front-message.ts';

/**
 * A part of the body up to this length becomes text, together with what frames it. Node sends text in one
 * piece with the head before it, and copies up to 16 KiB of it without an allocation.
 */
const MAX_TEXT_BYTES = 12 * 1024;

/** Text is written before the end of the turn when it is as long as this. */
const MAX_GATHERED_LENGTH = 64 * 1024;

const LINE_END = '\r\n';
const LAST_CHUNK = '0\r\n\r\n';

/** Calls back at the end of the turn for less than `queueMicrotask`, which makes an object to trace each call. */
const SETTLED = Promise.resolve();

/** Responses with something to write at the end of this turn of the event loop. */
let gathering: GatheringResponse[] = [];

function writeAll(): void {
  const responses = gathering;
  gathering = [];
  for (const response of responses) response.writeGathered();
}

/**
 * A response of which the head and the short parts of the body that are sent in one turn of the event loop
 * leave in one write. Long parts are passed on without a copy.
 */
export class GatheringResponse extends ServerResponse<FrontMessage> {
  /** Whether the head, or text, is to be written at the end of this turn. */
  #isGathering = false;
  #text = '';
  /** The parts of the body are chunks, which are framed here: Node would send each in four pieces. */
  #framesChunks = false;

  /** Sends the head. `fields` is a flat list of names and values. */
  sendHead(status: number, reason: string | undefined, fields: string[]): void {
    this.writeHead(status, reason, fields);
    if (this.chunkedEncoding) {
      this.chunkedEncoding = false;
      this.#framesChunks = true;
    }
    this.#gather();
  }

  /**
   * Sends a part of the body. Returns false if it is not yet on its way to the client: it must not be changed,
   * and the next part should not be sent, before `drain` is emitted.
   */
  sendPart(part: Buffer): boolean {
    // An empty chunk would end the body.
    if (part.length === 0) return true;
    if (part.length > MAX_TEXT_BYTES) return this.#sendLong(part);
    const text = part.toString('latin1');
    this.#text += this.#framesChunks ? sizeLine(part) + text + LINE_END : text;
    if (this.#text.length > MAX_GATHERED_LENGTH) return this.#sendText();
    this.#gather();
    return !this.writableNeedDrain;
  }

  /** Ends the body. Only a body in chunks can have trailers. */
  endBody(trailers: readonly [string, string][]): void {
    this.#isGathering = false;
    const text = this.#text;
    this.#text = '';
    if (this.#framesChunks && trailers.length > 0) {
      if (text !== '') this.write(text, 'latin1');
      // Node writes the last chunk and the trailers.
      this.chunkedEncoding = true;
      this.addTrailers(trailers);
      this.end();
      return;
    }
    const rest = this.#framesChunks ? text + LAST_CHUNK : text;
    if (rest === '') this.end();
    else this.end(rest, 'latin1');
  }

  /** Writes what was gathered in this turn. */
  writeGathered(): void {
    if (!this.#isGathering) return;
    this.#isGathering = false;
    if (this.#text === '') this.flushHeaders();
    else this.#sendText();
  }

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    if (gathering.length === 0) void SETTLED.then(writeAll);
    gathering.push(this);
  }

  #sendText(): boolean {
    const text = this.#text;
    this.#text = '';
    const { socket } = this;
    const isBehind = this.writableLength > 0;
    // Node would write at the end of the turn.
    socket?.cork();
    const hasRoom = this.write(text, 'latin1', isBehind ? this.#reportRoom() : undefined);
    socket?.uncork();
    return hasRoom;
  }

  #sendLong(part: Buffer): boolean {
    this.#isGathering = false;
    const before = this.#framesChunks ? this.#text + sizeLine(part) : this.#text;
    this.#text = '';
    const { socket } = this;
    socket?.cork();
    if (before !== '') this.write(before, 'latin1');
    this.write(part, this.#reportRoom());
    if (this.#framesChunks) this.write(LINE_END, 'latin1');
    socket?.uncork();
    return this.writableLength === 0;
  }

  /** Returns what to call when a part has left. Node itself reports only the end of a queue that was long. */
  #reportRoom(): () => void {
    return () => {
      if (this.writableLength === 0) this.emit('drain');
    };
  }
}

/** RFC 9112, section 7.1: the size of a chunk in hexadecimal digits. */
function sizeLine(chunk: Buffer): string {
  return chunk.length.toString(16) + LINE_END;
}
