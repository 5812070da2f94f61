/**
 * Returns a path as a lenient server reads it: ASCII decoded, in lower case, backslashes as slashes,
 * without path parameters or empty segments. Such a server may read two paths with the same result as the
 * same resource.
 */
export function loosePath(path: string): string {
  if (!MAY_DIFFER.test(path)) return path;
  const decoded = path
    .replace(ENCODED_ASCII, (encoded) => DECODED.get(encoded) ?? encoded)
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/');
  // Attack: a path with thousands of capitals, such as in encodings, which are replaced one by one.
  if (!BEYOND_ASCII.test(decoded)) return decoded.toLowerCase();
  return decoded.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const BEYOND_ASCII = /[\u0080-\uffff]/;

const MAY_DIFFER = /[%;\\A-Z]|\/\//;

const ENCODED_ASCII = /%[0-7][\dA-Fa-f]/g;

/** A path of many encodings costs a look-up for each. */
const DECODED: ReadonlyMap<string, string> = new Map(
  Array.from({ length: 128 }, (_, code) => {
    const [high = '', low = ''] = code.toString(16).padStart(2, '0');
    const spellings = new Set([`%${high}${low}`, `%${high}${low.toUpperCase()}`]);
    return [...spellings].map((spelling) => [spelling, String.fromCharCode(code)] as const);
  }).flat(),
);
