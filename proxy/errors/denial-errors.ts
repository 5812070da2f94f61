import { GatewayError } from './gateway-error.ts';

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
