import { Buffer } from 'node:buffer';

const FIRST_ROOM_BYTES = 512;

/** Bytes that come in parts, in one buffer. Twice the room each time, so a byte is copied twice on average. */
export class HeldBytes {
  #room: Buffer | undefined;
  #length = 0;

  /** Adds a part, and returns the buffer that begins with all of them. */
  add(part: Buffer): Buffer {
    const length = this.#length + part.length;
    let room = this.#room;
    if (room === undefined || room.length < length) {
      room = Buffer.allocUnsafeSlow(Math.max(FIRST_ROOM_BYTES, 2 * length));
      this.#room?.copy(room, 0, 0, this.#length);
      this.#room = room;
    }
    part.copy(room, this.#length);
    this.#length = length;
    return room;
  }

  /** Forgets all parts, and frees their buffer. */
  clear(): void {
    this.#room = undefined;
    this.#length = 0;
  }
}
