import { GatewayError } from './gateway-error.ts';

/** No route serves the host (421, RFC 9110, section 15.5.20), or none of the host's the path (404). */
export class RouteNotFoundError extends GatewayError {
  override readonly name = 'RouteNotFoundError';
  override readonly reason = 'route-not-found';
  override readonly status: 404 | 421;

  constructor(status: 404 | 421, message: string) {
    super(message);
    this.status = status;
  }
}

/** The request cannot be understood in one way only, or not at all. */
export class BadRequestError extends GatewayError {
  override readonly name = 'BadRequestError';
  override readonly reason: string;
  override readonly status: number = 400;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The resource does not have this method; `allow` lists those it has. */
export class MethodNotAllowedError extends GatewayError {
  override readonly name = 'MethodNotAllowedError';
  override readonly reason = 'method-not-allowed';
  override readonly status = 405;
  readonly allow: readonly string[];

  constructor(allow: readonly string[]) {
    super(`only ${allow.join(', ')} is allowed here`);
    this.allow = allow;
  }
}

/** The body is longer than the route or endpoint accepts. */
export class BodyTooLargeError extends GatewayError {
  override readonly name = 'BodyTooLargeError';
  override readonly reason = 'body-too-large';
  override readonly status = 413;
  readonly limitBytes: number;

  constructor(limitBytes: number) {
    super(`the body is longer than ${String(limitBytes)} bytes`);
    this.limitBytes = limitBytes;
  }
}

/** The body was not whole in time. */
export class BodyTooSlowError extends GatewayError {
  override readonly name = 'BodyTooSlowError';
  override readonly reason = 'body-too-slow';
  override readonly status = 408;

  constructor() {
    super('the body did not arrive in time');
  }
}

/** A JSON-RPC message that is refused before any policy is asked; `code` is JSON-RPC's. */
export class InvalidMessageError extends GatewayError {
  override readonly name = 'InvalidMessageError';
  override readonly reason = 'invalid-json-rpc';
  override readonly status: number;
  readonly code: number;
  /** The id, when that much was understood. */
  readonly messageId: string | number | null;

  constructor(
    message: string,
    {
      status = 400,
      code,
      id = null,
    }: { status?: number; code: number; id?: string | number | null },
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.messageId = id;
  }
}

/** The request may not be made, whoever makes it: from this origin, in this form. */
export class ForbiddenError extends GatewayError {
  override readonly name: string = 'ForbiddenError';
  override readonly reason: string;
  override readonly status = 403;

  constructor(reason: string) {
    super(`request denied: ${reason}`);
    this.reason = reason;
  }
}

/** Policy says no; the authorization log says why. */
export class PolicyDeniedError extends ForbiddenError {
  override readonly name = 'PolicyDeniedError';
}

/**
 * Policy denies this tool call, and would allow it but for `mcp_tool`: an answer for the model, in
 * a JSON-RPC error with status 200, so that the client keeps its connection.
 */
export class ToolCallDeniedError extends GatewayError {
  override readonly name = 'ToolCallDeniedError';
  override readonly reason = 'mcp-tool-unauthorized';
  override readonly status = 200;
}

/** The request needs a signed-in user. The answer is a redirect for navigations, else 401. */
export class SignInRequiredError extends GatewayError {
  override readonly name = 'SignInRequiredError';
  override readonly reason = 'user-unauthenticated';
  override readonly status = 401;
}

export interface SignInFailedOptions extends ErrorOptions {
  readonly status?: 400 | 403 | 500 | 502;
  readonly startAgainUrl?: string;
}

/** Signing in did not work; `message` says why, for the log. */
export class SignInFailedError extends GatewayError {
  override readonly name = 'SignInFailedError';
  override readonly reason: string;
  override readonly status: 400 | 403 | 500 | 502;
  /** Where the user can try again: a live route's, or nothing that anybody else could choose. */
  readonly startAgainUrl: string | undefined;

  constructor(
    reason: string,
    message: string,
    { status = 400, startAgainUrl, ...options }: SignInFailedOptions = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.status = status;
    this.startAgainUrl = startAgainUrl;
  }
}

/** The upstream cannot be reached, or broke off before it answered. */
export class UpstreamUnreachableError extends GatewayError {
  override readonly name = 'UpstreamUnreachableError';
  override readonly reason = 'upstream-unreachable';
  override readonly status = 502;
}

/** The upstream did not begin its response in time. */
export class UpstreamTimeoutError extends GatewayError {
  override readonly name = 'UpstreamTimeoutError';
  override readonly reason = 'upstream-timeout';
  override readonly status = 504;
}

/** Too many requests of this kind from one place. */
export class TooManyRequestsError extends GatewayError {
  override readonly name = 'TooManyRequestsError';
  override readonly reason = 'too-many-requests';
  override readonly status = 429;
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(`too many requests; ${String(retryAfterSeconds)} s to wait`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Nobody is there to answer. */
export class ClientGoneError extends GatewayError {
  override readonly name = 'ClientGoneError';
  override readonly reason = 'client-gone';
  override readonly status = 499;
}
