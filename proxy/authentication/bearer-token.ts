import { TokenRequiredError } from '../errors/authentication-errors.ts';
import type { GatewayRequest } from '../http/gateway-request.ts';

/**
 * Returns the bearer token of a request; throws a `TokenRequiredError` if it has no token.
 *
 * RFC 6750, section 2.1; the scheme's name ignores case (RFC 9110, section 11.1).
 */
export function bearerToken({ message }: GatewayRequest): string {
  const token = /^bearer +([\w\-.~+/]+=*) *$/i.exec(message.headers.authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new TokenRequiredError('no bearer token', { tokenWasSent: false });
}
