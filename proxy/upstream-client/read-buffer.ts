import { Buffer } from 'node:buffer';

const KIBIBYTE = 1024;

/** After a read of this length, a connection has a buffer of its own. */
const BULK_BYTES = 32 * KIBIBYTE;

/** Each read and each write is a system call, so large ones make a download cheap. */
const OWN_BYTES = 128 * KIBIBYTE;

/**
 * Nearly all reads of all connections go here: a read is parsed before the next one, and what is kept of
 * it is copied. So a waiting connection has no buffer of its own.
 */
const SHARED: Buffer = Buffer.allocUnsafeSlow(64 * KIBIBYTE);

/**
 * The memory into which one connection is read: shared, or its own while much arrives. What is in its own is
 * passed on without a copy, and while that is written to a slow client, a second one is read.
 */
export class ReadBuffer {
  #current = SHARED;
  /** The buffer before this one, while both are its own. */
  #other: Buffer | undefined;
  #isBulk = false;
  #isHeld = false;
  #isOtherHeld = false;
  #isStopped = false;

  /** Returns the buffer for the next read. */
  readonly next = (): Buffer => {
    if (!this.#isBulk) this.#share();
    else if (this.#current === SHARED) this.#current = Buffer.allocUnsafeSlow(OWN_BYTES);
    else if (this.#isHeld && !this.#isStopped) this.#exchange();
    return this.#current;
  };

  /** Returns the bytes of a read, valid up to the next one. */
  read(length: number): Buffer {
    this.#isBulk = length >= BULK_BYTES;
    return this.#current.subarray(0, length);
  }

  /** Returns a part of these bytes that stays valid if `hold` is called. */
  keep(part: Buffer): Buffer {
    return this.#current === SHARED ? Buffer.from(part) : part;
  }

  /** Leaves what was read as it is, until `release` is called. */
  hold(): void {
    this.#isHeld = this.#current !== SHARED;
  }

  /** Notes that nothing is read before `release` is called. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Everything that was read may be overwritten. */
  release(): void {
    this.#isStopped = false;
    this.#isHeld = false;
    this.#isOtherHeld = false;
  }

  /** Leaves what was read to whoever has it. */
  giveAway(): void {
    this.#isBulk = false;
    this.#share();
  }

  #share(): void {
    this.#current = SHARED;
    this.#other = undefined;
    this.#isHeld = false;
    this.#isOtherHeld = false;
  }

  #exchange(): void {
    const free = this.#isOtherHeld ? undefined : this.#other;
    this.#other = this.#current;
    this.#isOtherHeld = true;
    this.#current = free ?? Buffer.allocUnsafeSlow(OWN_BYTES);
    this.#isHeld = false;
  }
}
