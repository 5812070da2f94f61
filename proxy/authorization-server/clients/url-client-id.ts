const MAX_LENGTH = 2048;

/** Visible ASCII, without the backslash that URL parsers read as a slash. */
const URL_CHARACTERS = /^[\x21-\x5b\x5d-\x7e]+$/;

const PATH = /^https?:\/\/[^/?]*([^?]*)/;

/** `.` and `..`, percent-encoded or not. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * Returns whether a client ID is a URL and therefore names a metadata document; IDs of registered clients
 * are not URLs. `problemOfClientIdUrl` decides whether the URL is acceptable.
 */
export function isUrlClientId(clientId: string): boolean {
  return /^https?:\/\//i.test(clientId);
}

/**
 * Returns the problem of a URL as client ID, as the end of a sentence that begins with "client ID"; null if
 * the URL is acceptable. With `devAllowLoopback` http is acceptable too.
 *
 * @see {@link https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-3 OAuth Client ID Metadata Document, section 3}
 */
export function problemOfClientIdUrl(
  clientId: string,
  { devAllowLoopback }: { devAllowLoopback: boolean },
): string | null {
  if (clientId.length > MAX_LENGTH) return `is longer than ${String(MAX_LENGTH)} characters`;
  if (clientId.includes('#')) return 'has a fragment';
  const url = URL.parse(clientId);
  if (!URL_CHARACTERS.test(clientId) || url === null) return 'is not a URL';
  const isAllowed =
    clientId.startsWith('https://') || (devAllowLoopback && clientId.startsWith('http://'));
  if (!isAllowed) return 'must start with https://';
  if (url.username !== '' || url.password !== '' || /^[^/]+\/\/[^/?]*@/.test(clientId)) {
    return 'has a user name or password';
  }
  return problemOfPath(PATH.exec(clientId)?.[1] ?? '');
}

/** Checks the path as it was sent: a URL parser would already have resolved the dots. */
function problemOfPath(path: string): string | null {
  if (path === '' || path === '/') return 'has no path';
  if (path.split('/').some((segment) => DOT_SEGMENT.test(segment))) return 'has a . or .. segment';
  return null;
}
