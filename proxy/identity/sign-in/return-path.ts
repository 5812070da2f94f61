/**
 * Sealed, the path must fit into a URL that every server in between accepts. It is also stored during a
 * sign-in, and strangers choose it.
 */
const MAX_LENGTH = 2048;

/**
 * Returns the path and query that a browser may be sent back to, or `/` if it could lead to another host.
 *
 * It begins with exactly one slash, since `//host` names another host. It has no backslash, which
 * browsers read as a slash, and only visible ASCII, since browsers drop tabs and line breaks from URLs.
 */
export function safeReturnPath(path: string): string {
  const isSafe = /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path);
  return isSafe && path.length <= MAX_LENGTH ? path : '/';
}
