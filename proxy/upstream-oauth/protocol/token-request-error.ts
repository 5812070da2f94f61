import { GatewayError } from '../../errors/gateway-error.ts';
import { shownErrorCode } from '../../errors/shown-error-code.ts';

/** Why an authorization server of an upstream gave no token. */
export type TokenFailure =
  /** It refused: `code` says why. */
  | 'upstream-authorization-refused'
  /** It did not answer in time, failed, or answered something else than a token endpoint does. */
  | 'upstream-authorization-unavailable'
  /** It gave something that cannot be used as a token. */
  | 'upstream-token-unusable'
  /** The browser came back with a response of another server (RFC 9207, section 2.4), or with none. */
  | 'upstream-response-invalid';

/** An authorization server of an upstream gave no token. The message has no content of its answer. */
export class TokenRequestError extends GatewayError {
  override readonly name = 'TokenRequestError';
  override readonly reason: TokenFailure;
  override readonly status = 502;
  /** The error code of the answer (RFC 6749, sections 4.1.2.1 and 5.2), if it refused. */
  readonly code?: string;

  constructor(
    reason: TokenFailure,
    message: string,
    { code, cause }: { readonly code?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.reason = reason;
    if (code !== undefined) this.code = code;
  }
}

/** Returns the error for a refusal with this code. Codes that no RFC allows are not repeated. */
export function refusedWith(code: string, host: string): TokenRequestError {
  const known = shownErrorCode(code);
  const message = `the authorization server ${host} refused: ${known}`;
  return new TokenRequestError('upstream-authorization-refused', message, { code: known });
}
