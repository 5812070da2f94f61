/** RFC 3986, section 3.3. These characters need no quoting, neither in a header nor in JSON. */
const PATH = /^(?:[\w\-.~!$&'()*+,;=:@/]|%[\da-f]{2})*$/i;

/** Segments that URL parsers resolve, some parsers in their encoded spelling too. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Returns the path with single slashes and without slashes at its end; null if it is ambiguous. */
export function tidyPath(path: string): string | null {
  if (!PATH.test(path) || DOT_SEGMENT.test(path)) return null;
  return withoutSlash(path.replace(/\/{2,}/g, '/'));
}

/** Returns the path without the slashes at its end; the root is empty. */
export function withoutSlash(path: string): string {
  let end = path.length;
  // A regular expression would take quadratic time on a long run of slashes in the middle.
  while (end > 0 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}
