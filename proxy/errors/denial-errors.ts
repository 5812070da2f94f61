import type { ToolDenial } from '../../shared/snapshot/snapshot.ts';
import { GatewayError } from './gateway-error.ts';

/** The request is forbidden, for example because of its origin or of a forged form. */
export class ForbiddenError extends GatewayError {
  override readonly name: string = 'ForbiddenError';
  override readonly reason: string;
  override readonly status = 403;

  constructor(reason: string, message = `request denied: ${reason}`) {
    super(message);
    this.reason = reason;
  }
}

/** A page of this origin may not call the route, or open a WebSocket on it. */
export class OriginNotAllowedError extends ForbiddenError {
  override readonly name = 'OriginNotAllowedError';

  constructor(origin: string) {
    super('origin-not-allowed', `the origin ${JSON.stringify(origin)} is not allowed here`);
  }
}

/** Policy denies the request; the authorization log has the reasons. */
export class PolicyDeniedError extends ForbiddenError {
  override readonly name = 'PolicyDeniedError';
}

/**
 * Policy denies this tool call only because of `mcp_tool`. The response is for the model: a JSON-RPC
 * error, or a result of the tool, with status 200, so that the client keeps its connection.
 */
export class ToolCallDeniedError extends GatewayError {
  override readonly name = 'ToolCallDeniedError';
  override readonly reason = 'mcp-tool-unauthorized';
  override readonly status = 200;
  readonly answeredAs: ToolDenial;
  /** The revision of MCP that the call names; undefined before 2026-07-28. */
  readonly protocolVersion: string | undefined;

  constructor(
    message: string,
    {
      answeredAs,
      protocolVersion,
    }: { readonly answeredAs: ToolDenial; readonly protocolVersion: string | undefined },
  ) {
    super(message);
    this.answeredAs = answeredAs;
    this.protocolVersion = protocolVersion;
  }
}

/** The sender has reached a rate limit. */
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
