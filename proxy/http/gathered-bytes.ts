import { Buffer } from 'node:buffer';

/**
 * The bytes of a body while its parts arrive.
 *
 * Attack: a part of one byte takes some 400 bytes as a buffer, so the parts are not kept. Twenty bodies of
 * 64 KiB, in chunks of one byte, took half a gigabyte.
 */
export class GatheredBytes {
  /** The only part so far, as it is; or room for more than the gathered bytes. */
  #room: Buffer | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(part: Buffer): void {
    const length = this.#length + part.length;
    if (this.#room === undefined) {
      this.#room = part;
    } else {
      if (length > this.#room.length) this.#room = this.#enlarged(this.#room, length);
      part.copy(this.#room, this.#length);
    }
    this.#length = length;
  }

  bytes(): Buffer {
    return this.#room?.subarray(0, this.#length) ?? Buffer.alloc(0);
  }

  /** Twice the room each time, so that a byte is copied twice on average. */
  #enlarged(room: Buffer, length: number): Buffer {
    const larger = Buffer.allocUnsafe(Math.max(length, 2 * room.length));
    room.copy(larger, 0, 0, this.#length);
    return larger;
  }
}
