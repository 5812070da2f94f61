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

/** Sends a head and then a body as it comes, no faster than the upstream takes it. */
export class RequestUpload {
  readonly #socket: Socket;
  readonly #body: StreamedBody;
  readonly #listener: UploadListener;
  #sent = 0;
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
    const { source } = this.#body;
    this.#socket.off('drain', this.#onDrain);
    source.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    source.resume();
  }

  readonly #onData = (chunk: Buffer): void => {
    const { length } = this.#body;
    this.#sent += chunk.length;
    // Attack: what follows the announced length would be read as another request.
    if (length !== undefined && this.#sent > length) {
      this.#fail(new ConnectionError('wrong-length'));
      return;
    }
    const hasRoom = length === undefined ? this.#writeChunk(chunk) : this.#socket.write(chunk);
    if (!hasRoom) this.#stall();
    if (this.#socket.writableLength === 0) free(chunk);
  };

  /** Returns false if no more should be written for now. */
  #writeChunk(chunk: Buffer): boolean {
    // An empty chunk would end the body.
    if (chunk.length === 0) return true;
    const socket = this.#socket;
    socket.cork();
    socket.write(`${chunk.length.toString(HEXADECIMAL)}\r\n`, 'latin1');
    socket.write(chunk);
    const hasRoom = socket.write('\r\n', 'latin1');
    socket.uncork();
    return hasRoom;
  }

  #stall(): void {
    this.#body.source.pause();
    this.#listener.onStalled();
  }

  readonly #onDrain = (): void => {
    this.#body.source.resume();
    this.#listener.onDrained();
  };

  readonly #onEnd = (): void => {
    const { length } = this.#body;
    if (length === undefined) {
      try {
        this.#socket.write(lastChunk(this.#body.trailers?.read() ?? []), 'latin1');
      } catch (error) {
        this.#fail(asError(error));
        return;
      }
    } else if (this.#sent !== length) {
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
const LONG_BYTES = 16 * 1024;

/**
 * Frees the memory of a part that has left. Node makes new memory for each part, and for every few dozen
 * megabytes of it V8 would look through its whole heap, which costs more than all the rest of an upload.
 */
function free({ buffer, length }: Buffer): void {
  // Otherwise something else may be in the same memory.
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === length;
  if (isAlone && length >= LONG_BYTES) buffer.transfer(0);
}
