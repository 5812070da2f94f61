/** The DER encoding of X.690, as far as certificates need it. Objects are their encodings. */

/** Encodes a value of a type: tag, length and content (X.690, section 8.1). */
export function derValue(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body), body]);
}

/** Encodes a SEQUENCE. */
export function derSequence(...members: readonly Buffer[]): Buffer {
  return derValue(0x30, ...members);
}

/** Encodes an OBJECT IDENTIFIER whose content is given in hexadecimal digits. */
export function derObjectId(hex: string): Buffer {
  return derValue(0x06, Buffer.from(hex, 'hex'));
}

/** Encodes a BIT STRING of whole bytes. */
export function derBitString(bytes: Buffer): Buffer {
  return derValue(0x03, Buffer.from([0]), bytes);
}

/** Encodes a time as certificates do: years from 2050 on have four digits (RFC 5280, section 4.1.2.5). */
export function derTime(time: Date): Buffer {
  const digits = time.toISOString().replace(/\.\d+|\D/g, '');
  return time.getUTCFullYear() < 2050
    ? derValue(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : derValue(0x18, Buffer.from(`${digits}Z`));
}

function lengthOf({ length }: Buffer): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  if (length < 0x100) return Buffer.from([0x81, length]);
  return Buffer.from([0x82, length >> 8, length & 0xff]);
}
