import { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

import type { BodyReceiver } from '../http/body-receiver.ts';
import { GatheredBytes } from '../http/gathered-bytes.ts';
import { requestFields, type RequestFields } from '../http/request-fields.ts';
import type { RequestMessage } from '../http/request-message.ts';

/**
 * A request with a body that takes little memory while nobody reads it.
 *
 * Attack: Node keeps each chunk by itself, and one of one byte takes some 400 bytes. Behind an upstream that
 * stopped reading, 64 KiB of them took 30 MB of each connection.
 */
export class FrontMessage extends IncomingMessage implements RequestMessage {
  /** The fields that the gateway reads, in place of an object of all fields, which Node makes. */
  declare readonly headers: RequestFields;
  #fields: RequestFields | undefined;
  /** What arrived behind a part that is still unread. */
  #behind: GatheredBytes | undefined;
  /** Gets the body past the buffers and events of the stream. */
  #receiver: BodyReceiver | undefined;

  static {
    // Accessors of Node that its types call fields, so that `override` is not possible.
    const hasEnded = Reflect.getOwnPropertyDescriptor(Readable.prototype, 'readableEnded')?.get;
    Object.defineProperties(this.prototype, {
      headers: {
        get(this: FrontMessage): RequestFields {
          return (this.#fields ??= requestFields(this.rawHeaders));
        },
      },
      readableEnded: {
        get(this: FrontMessage): unknown {
          return this.#receiver === undefined ? hasEnded?.call(this) : this.complete;
        },
      },
    });
  }

  /** Whether the gateway waits for more of the body; false while a slow upstream delays the client. */
  get isAwaited(): boolean {
    if (this.complete) return false;
    return (
      this.#receiver !== undefined || (this.readableFlowing === true && this.readableLength === 0)
    );
  }

  deliverTo(receiver: BodyReceiver): void {
    if (this.destroyed) {
      receiver.onClose();
      return;
    }
    this.#receiver = receiver;
    // Until it returns null, which also has the connection go on reading.
    for (let part = this.read(); part !== null; part = this.read()) receiver.onPart(part as Buffer);
    if (this.complete) receiver.onEnd();
  }

  override push(part: Buffer | null): boolean {
    if (this.#receiver === undefined) return this.#keep(part);
    if (part === null) this.#receiver.onEnd();
    else this.#receiver.onPart(part);
    return true;
  }

  /** Both ways of reading, flowing or not, call this until it returns null. */
  override read(size?: number): unknown {
    if (size !== 0 && this.readableLength === 0) this.#release();
    return super.read(size);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.complete) this.#receiver?.onClose();
    super._destroy(error, done);
  }

  #keep(part: Buffer | null): boolean {
    if (part === null) {
      this.#release();
      return super.push(null);
    }
    if (this.readableLength === 0 && this.#behind === undefined) {
      // As `push` does. It would also ask for more each time, but the connection reads on until it is stopped.
      if (this.readableFlowing === true && this.emit('data', part)) return true;
      return super.push(part);
    }
    this.#behind ??= new GatheredBytes();
    this.#behind.add(part);
    return this.readableLength + this.#behind.length < this.readableHighWaterMark;
  }

  #release(): void {
    const behind = this.#behind;
    if (behind === undefined) return;
    this.#behind = undefined;
    super.push(behind.bytes());
  }
}
