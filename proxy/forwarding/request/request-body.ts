import { Readable } from 'node:stream';

import { ClientGoneError } from '../../errors/request-errors.ts';
import type { MessageBody } from '../../http/request-message.ts';

/**
 * The body of a request on its way to the upstream.
 *
 * The message itself must not be passed to an HTTP client: clients destroy a body when they need no more
 * of it, and destroying the message destroys its connection before the response has left. When this
 * stream is destroyed, the rest of the message is read and discarded.
 */
export class RequestBody extends Readable {
  readonly #message: MessageBody;
  #isReading = false;

  constructor(message: MessageBody) {
    // The message keeps small parts in less memory than this stream would.
    super({ highWaterMark: 1 });
    this.#message = message;
    // Without a listener the error after a client left would end the process.
    this.on('error', () => undefined);
  }

  override _read(): void {
    if (this.#isReading) {
      this.#message.resume();
      return;
    }
    this.#isReading = true;
    if (this.#message.destroyed) {
      this.#onClose();
      return;
    }
    this.#message.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#message.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    this.#message.resume();
    done(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.push(chunk)) this.#message.pause();
  };

  readonly #onEnd = (): void => {
    this.push(null);
  };

  readonly #onClose = (): void => {
    if (!this.#message.readableEnded) {
      this.destroy(new ClientGoneError('the client left before its body was whole'));
    }
  };
}
