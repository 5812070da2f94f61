/** Second byte of a frame's header (RFC 6455, section 5.2). */
const MASK_BIT = 0x80;
const LENGTH_BITS = 0x7f;
const LENGTH_IN_2_BYTES = 126;
const LENGTH_IN_8_BYTES = 127;

const SHORT_HEADER_BYTES = 2;
const MASKING_KEY_BYTES = 4;
const BYTE_VALUES = 256;

/** Parses the bytes of one direction of a WebSocket to find the ends of frames. */
export class WebSocketFrames {
  /** The bytes of a frame's header that were parsed so far. */
  #header: number[] = [];
  #payloadLeft = 0;

  /** Whether the next byte begins a frame. */
  get isBetweenFrames(): boolean {
    return this.#header.length === 0 && this.#payloadLeft === 0;
  }

  /** Parses all bytes. */
  parse(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) at = this.#advance(chunk, at);
  }

  /** Parses bytes up to the end of the current frame, and returns their number. */
  parseFrame(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && !this.isBetweenFrames) at = this.#advance(chunk, at);
    return at;
  }

  /** Parses a byte of a header, or as much of a payload as there is; returns the next position. */
  #advance(chunk: Buffer, at: number): number {
    if (this.#payloadLeft > 0) {
      const length = Math.min(this.#payloadLeft, chunk.length - at);
      this.#payloadLeft -= length;
      return at + length;
    }
    this.#header.push(chunk[at] ?? 0);
    if (this.#header.length === headerLength(this.#header)) {
      this.#payloadLeft = payloadLength(this.#header);
      this.#header = [];
    }
    return at + 1;
  }
}

function headerLength([, second]: readonly number[]): number {
  if (second === undefined) return SHORT_HEADER_BYTES;
  const maskBytes = (second & MASK_BIT) === 0 ? 0 : MASKING_KEY_BYTES;
  return SHORT_HEADER_BYTES + extendedLengthBytes(second) + maskBytes;
}

function payloadLength([, second = 0, ...rest]: readonly number[]): number {
  const bytes = extendedLengthBytes(second);
  if (bytes === 0) return second & LENGTH_BITS;
  return rest.slice(0, bytes).reduce((length, byte) => length * BYTE_VALUES + byte, 0);
}

function extendedLengthBytes(second: number): 0 | 2 | 8 {
  switch (second & LENGTH_BITS) {
    case LENGTH_IN_2_BYTES:
      return 2;
    case LENGTH_IN_8_BYTES:
      return 8;
    default:
      return 0;
  }
}
