/**
 * Sealed, it must fit into a URL that every server in between accepts, and a stranger chooses what is
 * stored of it while a sign-in is under way.
 */
const MAX_LENGTH = 2048;

/**
 * The path and query a browser may be sent back to, or `/` when it could lead anywhere else.
 *
 * Exactly one slash begins it, for `//host` names another host; no backslash, which browsers read as
 * a slash; nothing but visible ASCII, for browsers drop tabs and line breaks from URLs.
 */
export function safeReturnPath(path: string): string {
  const isSafe = /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path);
  return isSafe && path.length <= MAX_LENGTH ? path : '/';
}
