/**
 * The sealed path must fit into a URL that every server in between accepts. Strangers choose the path, and
 * it is stored during a sign-in.
 */
const MAX_LENGTH = 2048;

/**
 * Returns the path and query to which a browser is sent back; `/` if the text could lead to another host.
 *
 * A safe path begins with exactly one slash, since `//host` names another host. It has no backslash, which
 * browsers read as a slash, and only visible ASCII, since browsers drop tabs and line breaks from URLs.
 */
export function safeReturnPath(path: string): string {
  const isSafe = /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path);
  return isSafe && path.length <= MAX_LENGTH ? path : '/';
}
