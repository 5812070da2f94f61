/**
 * Returns a path as a lenient server reads it: ASCII decoded, in lower case, backslashes as slashes,
 * without path parameters or empty segments. Such a server may read two paths with the same result as the
 * same resource.
 */
export function loosePath(path: string): string {
  if (!MAY_DIFFER.test(path)) return path;
  const bytes = Buffer.from(path);
  return bytes.toString('utf8', 0, readLoosely(bytes));
}

const MAY_DIFFER = /[%;\\A-Z]|\/\//;

const PERCENT = 0x25;
const SLASH = 0x2f;
const SEMICOLON = 0x3b;

/** How a byte is read: backslashes as slashes, and letters of ASCII in lower case. */
const READ_AS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (character === '\\') return SLASH;
  return /[A-Z]/.test(character) ? character.toLowerCase().charCodeAt(0) : byte;
});

/**
 * Replaces a path by its loose reading, and returns the length of that. One pass, because a stranger may fill
 * a path with what has to be replaced. Bytes beyond ASCII stay as they are.
 */
function readLoosely(bytes: Uint8Array): number {
  let length = 0;
  let isParameter = false;
  for (let index = 0; index < bytes.length; index += 1) {
    let byte = bytes[index] ?? 0;
    const decoded = byte === PERCENT ? encodedAscii(bytes, index) : undefined;
    if (decoded !== undefined) {
      byte = decoded;
      index += ENCODED_LENGTH - 1;
    }
    byte = READ_AS[byte] ?? byte;
    isParameter = byte === SEMICOLON || (isParameter && byte !== SLASH);
    const isEmptySegment = byte === SLASH && length > 0 && bytes[length - 1] === SLASH;
    if (isParameter || isEmptySegment) continue;
    bytes[length] = byte;
    length += 1;
  }
  return length;
}

const ENCODED_LENGTH = '%41'.length;

/** Returns the byte that `%00` to `%7F` stands for; undefined if something else begins at an index. */
function encodedAscii(bytes: Uint8Array, index: number): number | undefined {
  const high = VALUE_OF_DIGIT[bytes[index + 1] ?? 0] ?? NO_DIGIT;
  const low = VALUE_OF_DIGIT[bytes[index + 2] ?? 0] ?? NO_DIGIT;
  return high < ASCII_ROWS && low !== NO_DIGIT ? high * HEXADECIMAL + low : undefined;
}

const HEXADECIMAL = 16;
const ASCII_ROWS = 8;
const NO_DIGIT = 255;

/** The values of hexadecimal digits in both cases, by their codes. */
const VALUE_OF_DIGIT = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase());
  return value === -1 ? NO_DIGIT : value;
});
