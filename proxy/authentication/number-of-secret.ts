/** Enough that two of the secrets in a cache rarely have the same number. */
const CHARACTERS = 6;
const FACTOR = 67;
/** The largest numbers that V8 keeps without an object. */
const SMALL = 0x3fff_ffff;

/**
 * Returns a number for a token or a cookie, from its last characters, which are random.
 *
 * A `Map` hashes all of a text that has just been received, and looks it up among all texts of the process.
 * Different secrets can have one number, so whoever finds something by it compares the whole secret.
 */
export function numberOfSecret(secret: string): number {
  let number = 0;
  for (let at = Math.max(secret.length - CHARACTERS, 0); at < secret.length; at += 1) {
    number = (number * FACTOR + secret.charCodeAt(at)) & SMALL;
  }
  return number;
}
