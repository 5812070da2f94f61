import { GatewayError } from './gateway-error.ts';

/** The request needs something that is unavailable for a while: 503, with the time to wait. */
export class UnavailableError extends GatewayError {
  override readonly name: string = 'UnavailableError';
  override readonly reason: string;
  override readonly status = 503;
  /** Sent as `Retry-After` (RFC 9110, section 10.2.3). */
  readonly retryAfterSeconds: number;

  constructor(
    reason: string,
    message: string,
    { retryAfterSeconds = 1, cause }: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
