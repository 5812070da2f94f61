import { GatewayError } from './gateway-error.ts';
import { BadRequestError } from './request-errors.ts';

/** The request needs a signed-in user. Navigations are redirected to sign in, others get 401. */
export class SignInRequiredError extends GatewayError {
  override readonly name = 'SignInRequiredError';
  override readonly reason = 'user-unauthenticated';
  override readonly status = 401;
}

/** Options of a `SignInFailedError`. */
export interface SignInFailedOptions extends ErrorOptions {
  readonly status?: 400 | 403 | 500 | 502;
  readonly startAgainUrl?: string;
  /** What the user can do, if the status alone does not say it. */
  readonly advice?: string;
}

/** A sign-in failed; `message` is the reason, for the log. */
export class SignInFailedError extends GatewayError {
  override readonly name = 'SignInFailedError';
  override readonly reason: string;
  override readonly status: 400 | 403 | 500 | 502;
  /** URL of a live route at which the user can try again. Never a URL that a stranger can choose. */
  readonly startAgainUrl: string | undefined;
  /** For the user: it has nothing that a stranger can choose. */
  readonly advice: string | undefined;

  constructor(
    reason: string,
    message: string,
    { status = 400, startAgainUrl, advice, ...options }: SignInFailedOptions = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.status = status;
    this.startAgainUrl = startAgainUrl;
    this.advice = advice;
  }
}

/**
 * A request to a protected resource without a usable token.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6750#section-3.1 RFC 6750, section 3.1}
 */
export class TokenRequiredError extends GatewayError {
  override readonly name = 'TokenRequiredError';
  override readonly reason: string;
  override readonly status = 401;
  /** Whether an invalid token was sent; without a token the challenge has no error code. */
  readonly tokenWasSent: boolean;

  /** `reason` is for the log: on the wire every bad token is `invalid_token`. */
  constructor(reason: string, { tokenWasSent }: { tokenWasSent: boolean }) {
    super(tokenWasSent ? `the token is not valid here: ${reason}` : 'the request has no token');
    this.reason = reason;
    this.tokenWasSent = tokenWasSent;
  }
}

/**
 * Two credentials in one request, where two programs could take different ones. `message` has nothing that
 * the sender wrote, so the response has it too.
 */
export class SeveralCredentialsError extends BadRequestError {
  override readonly name = 'SeveralCredentialsError';
}
