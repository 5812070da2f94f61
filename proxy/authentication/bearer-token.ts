import { TokenRequiredError } from '../errors/authentication-errors.ts';
import type { RequestMessage } from '../http/request-message.ts';

const USUAL_SCHEME = 'Bearer ';

const SCHEME_LENGTH = 'Bearer'.length;

/** The scheme's name ignores case (RFC 9110, section 11.1). */
const SCHEME = /^bearer(?=\s|$)/i;

/** RFC 6750, section 2.1: `b64token`. */
const TOKEN = /^[\w\-.~+/]+=*$/;

type MessageWithFields = Pick<RequestMessage, 'headers'>;

/**
 * Returns what follows the scheme `Bearer`, as it was sent, without spaces around it; undefined if the
 * request has another scheme, or nothing after it.
 */
export function sentBearer({ headers }: MessageWithFields): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const isUsual = authorization.startsWith(USUAL_SCHEME);
  if (!isUsual && !SCHEME.test(authorization)) return undefined;
  const sent = withoutSpaces(authorization, SCHEME_LENGTH);
  return sent === '' ? undefined : sent;
}

/** Returns whether a text has the characters of a bearer token (RFC 6750, section 2.1). */
export function isBearerToken(text: string): boolean {
  return TOKEN.test(text);
}

/**
 * Returns the bearer token of a request; throws a `TokenRequiredError` if it has no token. A token that
 * `isKnown` has the right form: its characters are not read again.
 */
export function bearerToken(
  { message }: { readonly message: MessageWithFields },
  isKnown: (token: string) => boolean,
): string {
  const sent = sentBearer(message);
  if (sent === undefined) throw new TokenRequiredError('no-token', { tokenWasSent: false });
  if (isKnown(sent) || isBearerToken(sent)) return sent;
  throw new TokenRequiredError('malformed', { tokenWasSent: true });
}

/** Returns the text after `start` without the spaces at both ends. */
function withoutSpaces(text: string, start: number): string {
  let from = start;
  let to = text.length;
  while (text[from] === ' ') from += 1;
  while (to > from && text[to - 1] === ' ') to -= 1;
  return text.slice(from, to);
}
