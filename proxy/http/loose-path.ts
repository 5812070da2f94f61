/**
 * Returns a path as a lenient server reads it: ASCII decoded, in lower case, without path parameters or
 * empty segments. Such a server may read two paths with the same result as the same resource.
 */
export function loosePath(path: string): string {
  return path
    .replace(ENCODED_ASCII, (_encoded, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/')
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const ENCODED_ASCII = /%([0-7][\dA-Fa-f])/g;
