import { isReservedPath, RESERVED_PREFIX } from './reserved-path.ts';

/** RFC 3986, section 6.2.2.2: these are equivalent to the characters themselves. */
export const ENCODED_UNRESERVED = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i;

/**
 * The problem with a path; undefined if every server reads it in the same way.
 *
 * Attack: a path that the gateway and the upstream read differently takes a request past the policy
 * of the route it belongs to. So no empty or dot segments, and no encoded separators or dots.
 */
export function pathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must begin with "/"';
  if (!/^[-A-Za-z0-9._~!$&'()*+,;=:@%/]+$/.test(path)) {
    return 'must be written as in a URL: without spaces, "?" or "#", and with other characters encoded';
  }
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) return 'must have two hexadecimal digits after "%"';
  if (/%(?:2f|5c|25|00)/i.test(path)) return 'must not contain an encoded "/", "\\" or "%"';
  if (ENCODED_UNRESERVED.test(path))
    return 'must not encode letters, digits, "-", ".", "_" and "~"';
  if (path.includes('//')) return 'must not contain "//"';
  if (/\/\.{1,2}(?:\/|$)/.test(path)) return 'must not contain "." or ".." segments';
  return undefined;
}

/** The problem with a path that is reserved for the gateway; undefined if it is not reserved. */
export function reservedPathProblem(path: string): string | undefined {
  return isReservedPath(path)
    ? `${RESERVED_PREFIX}/ is reserved for the gateway itself`
    : undefined;
}
