/** What Node reads at most at a time from a plain connection; a TLS record is shorter. */
const READ_BYTES = 64 * 1024;

/** A read of this length is passed on without a copy; shorter ones would keep too much memory. */
const BULK_BYTES = READ_BYTES / 2;

/**
 * Nearly all reads of all connections go here: a read is parsed before the next one, and what is kept of
 * it is copied. So a waiting connection has no buffer of its own.
 */
const SHARED = Buffer.allocUnsafeSlow(READ_BYTES);

/** The memory into which one connection is read: shared, or its own while much arrives. */
export class ReadBuffer {
  #current = SHARED;
  #isBulk = false;
  #isGivenAway = false;

  /** Returns the buffer for the next read. */
  readonly next = (): Buffer => {
    if (!this.#isBulk) this.#current = SHARED;
    else if (this.#current === SHARED || this.#isGivenAway) {
      this.#current = Buffer.allocUnsafeSlow(READ_BYTES);
    }
    this.#isGivenAway = false;
    return this.#current;
  };

  /** Returns the bytes of a read, valid up to the next one. */
  read(length: number): Buffer {
    this.#isBulk = length >= BULK_BYTES;
    return this.#current.subarray(0, length);
  }

  /** Returns a part of these bytes that stays valid. */
  keep(part: Buffer): Buffer {
    if (!this.#isBulk || this.#current === SHARED) return Buffer.from(part);
    this.#isGivenAway = true;
    return part;
  }
}
