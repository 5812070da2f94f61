import { IncomingMessage } from 'node:http';

import { GatheredBytes } from '../http/gathered-bytes.ts';

/**
 * A request with a body that takes little memory while nobody reads it.
 *
 * Attack: Node keeps each chunk by itself, and one of one byte takes some 400 bytes. Behind an upstream that
 * stopped reading, 64 KiB of them took 30 MB of each connection.
 */
export class FrontMessage extends IncomingMessage {
  /** What arrived behind a part that is still unread. */
  #behind: GatheredBytes | undefined;

  override push(part: Buffer | null): boolean {
    if (part === null) {
      this.#release();
      return super.push(null);
    }
    if (this.readableLength === 0 && this.#behind === undefined) return super.push(part);
    this.#behind ??= new GatheredBytes();
    this.#behind.add(part);
    return this.readableLength + this.#behind.length < this.readableHighWaterMark;
  }

  /** Both ways of reading, flowing or not, call this until it returns null. */
  override read(size?: number): unknown {
    if (size !== 0 && this.readableLength === 0) this.#release();
    return super.read(size);
  }

  #release(): void {
    const behind = this.#behind;
    if (behind === undefined) return;
    this.#behind = undefined;
    super.push(behind.bytes());
  }
}
