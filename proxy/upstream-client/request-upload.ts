import type { Socket } from 'node:net';
import process from 'node:process';

import { asError } from '../errors/as-error.ts';
import { ClientGoneError } from '../errors/request-errors.ts';
import { ConnectionError } from './connection-error.ts';
import type { StreamedBody } from './outgoing-request.ts';
import { lastChunk } from './request-head.ts';

/** Hears how far an upload is. */
export interface UploadListener {
  /** The upstream takes nothing more for now. */
  onStalled(): void;
  onDrained(): void;
  /** The whole body is written. */
  onSent(): void;
  /** The body cannot be sent whole, so the connection must be closed. */
  onUploadError(error: Error): void;
}

const HEXADECIMAL = 16;
const KIBIBYTE = 1024;

/** So much of a chunked body is sent part by part, as it comes: most bodies are shorter. */
const SHORT_BYTES = 64 * KIBIBYTE;

/** A chunk is written when it is as long as this, or at the end of the turn of the event loop. */
const GATHERED_BYTES = 128 * KIBIBYTE;

/** Attack: parts of one byte, of which one turn can bring a hundred thousand, at 400 bytes of memory each. */
const GATHERED_PARTS = 64;

/** Sends a head and then a body as it comes, no faster than the upstream takes it. */
export class RequestUpload {
  readonly #socket: Socket;
  readonly #body: StreamedBody;
  readonly #listener: UploadListener;
  /** Bytes of the body that were received. */
  #received = 0;
  /** Parts of the next chunk, and their length. */
  #parts: Buffer[] = [];
  #gathered = 0;
  #turnEnd: NodeJS.Immediate | undefined;
  /** Parts that may not have left yet, also those of the next chunk. */
  #leaving: Buffer[] = [];
  #isStalled = false;
  #isOver = false;

  constructor(socket: Socket, body: StreamedBody, listener: UploadListener) {
    this.#socket = socket;
    this.#body = body;
    this.#listener = listener;
  }

  /** Sends the head, and begins with the body. Reports its end or failure to the listener. */
  start(head: string): void {
    const { source } = this.#body;
    const socket = this.#socket;
    socket.cork();
    socket.write(head, 'latin1');
    if (source.destroyed && !source.readableEnded) {
      this.#onClose();
      return;
    }
    if (source.readableEnded) {
      this.#onEnd();
    } else {
      socket.on('drain', this.#onDrain);
      source.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
    }
    // The head leaves with the bytes that have arrived already.
    process.nextTick(() => socket.uncork());
  }

  /** Sends nothing more; the rest of the body is read and discarded. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearImmediate(this.#turnEnd);
    const { source } = this.#body;
    this.#socket.off('drain', this.#onDrain);
    source.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    source.resume();
    if (this.#socket.writableLength === 0) this.#free();
  }

  readonly #onData = (part: Buffer): void => {
    const { length } = this.#body;
    this.#received += part.length;
    // Attack: what follows the announced length would be read as another request.
    if (length !== undefined && this.#received > length) {
      this.#fail(new ConnectionError('wrong-length'));
      return;
    }
    this.#leaving.push(part);
    if (length === undefined) this.#gather(part);
    else this.#socket.write(part);
    this.#settle();
  };

  /** Parts that come in one turn become one chunk, or more if they are long. */
  #gather(part: Buffer): void {
    // An empty chunk would end the body.
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#gathered += part.length;
    const isLong = this.#gathered >= GATHERED_BYTES || this.#parts.length >= GATHERED_PARTS;
    if (isLong || this.#received <= SHORT_BYTES) this.#writeChunk();
    else this.#turnEnd ??= setImmediate(this.#onTurnEnd);
  }

  readonly #onTurnEnd = (): void => {
    this.#turnEnd = undefined;
    this.#writeChunk();
    this.#settle();
  };

  #writeChunk(): void {
    if (this.#gathered === 0) return;
    const socket = this.#socket;
    socket.cork();
    socket.write(`${this.#gathered.toString(HEXADECIMAL)}\r\n`, 'latin1');
    for (const part of this.#parts) socket.write(part);
    socket.write('\r\n', 'latin1');
    socket.uncork();
    this.#parts = [];
    this.#gathered = 0;
  }

  /** Frees what has left, or stops reading if the upstream does not take it. */
  #settle(): void {
    const { writableLength, writableNeedDrain } = this.#socket;
    // Node says that a long part needs a `drain` even if all of it has left.
    if (writableLength > 0) {
      if (writableNeedDrain) this.#stall();
    } else if (this.#gathered === 0) this.#free();
  }

  #stall(): void {
    if (this.#isStalled) return;
    this.#isStalled = true;
    this.#body.source.pause();
    this.#listener.onStalled();
  }

  /** Frees the memory of all parts: they have left. */
  #free(): void {
    for (const part of this.#leaving) free(part);
    this.#leaving = [];
  }

  readonly #onDrain = (): void => {
    this.#settle();
    if (!this.#isStalled) return;
    this.#isStalled = false;
    this.#body.source.resume();
    this.#listener.onDrained();
  };

  readonly #onEnd = (): void => {
    const { length } = this.#body;
    if (length === undefined) {
      try {
        this.#writeChunk();
        this.#socket.write(lastChunk(this.#body.trailers?.read() ?? []), 'latin1');
      } catch (error) {
        this.#fail(asError(error));
        return;
      }
    } else if (this.#received !== length) {
      this.#fail(new ConnectionError('wrong-length'));
      return;
    }
    this.stop();
    this.#listener.onSent();
  };

  readonly #onClose = (): void => {
    this.#fail(new ClientGoneError('the client left before its body was whole'));
  };

  #fail(error: Error): void {
    this.stop();
    this.#listener.onUploadError(error);
  }
}

/** A shorter part is left to the garbage collector. */
const LONG_BYTES = 4 * KIBIBYTE;

/**
 * Frees the memory of a part that has left. Node makes new memory for each part, and for every few dozen
 * megabytes of it V8 would look through its whole heap, which costs more than all the rest of an upload.
 */
function free({ buffer, length }: Buffer): void {
  // Otherwise something else may be in the same memory.
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === length;
  if (isAlone && length >= LONG_BYTES) buffer.transfer(0);
}
