import { Buffer } from 'node:buffer';

/** Returns a fatal alert in a record of its own, before anything is encrypted (RFC 8446, section 6). */
function fatalAlert(description: number): Buffer {
  return Buffer.from([21, 3, 3, 0, 2, 2, description]);
}

/** No certificate is for the name (RFC 6066, section 3). */
export const UNRECOGNIZED_NAME = fatalAlert(112);

/** What was sent is no ClientHello. */
export const DECODE_ERROR = fatalAlert(50);

/** A certificate cannot be used. */
export const INTERNAL_ERROR = fatalAlert(80);
