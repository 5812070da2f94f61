import { TokenRequiredError } from '../errors/authentication-errors.ts';
import type { RequestMessage } from '../http/request-message.ts';

const USUAL_SCHEME = 'Bearer ';

/**
 * Returns the bearer token of a request; throws a `TokenRequiredError` if it has no token.
 *
 * RFC 6750, section 2.1; the scheme's name ignores case (RFC 9110, section 11.1). A token that `isKnown` has
 * that form: its characters are not read again.
 */
export function bearerToken(
  { message }: { readonly message: Pick<RequestMessage, 'headers'> },
  isKnown: (token: string) => boolean,
): string {
  const { authorization = '' } = message.headers;
  if (authorization.startsWith(USUAL_SCHEME)) {
    const usual = authorization.slice(USUAL_SCHEME.length);
    if (isKnown(usual)) return usual;
  }
  const token = /^bearer +([\w\-.~+/]+=*) *$/i.exec(authorization)?.[1];
  if (token !== undefined) return token;
  throw new TokenRequiredError('no bearer token', { tokenWasSent: false });
}
