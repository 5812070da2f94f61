import { GatewayError } from './gateway-error.ts';

/** The request is malformed or ambiguous. */
export class BadRequestError extends GatewayError {
  override readonly name: string = 'BadRequestError';
  override readonly reason: string;
  override readonly status: number = 400;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The body is not what the endpoint takes. The message is for everyone. */
export class InvalidBodyError extends BadRequestError {
  override readonly name = 'InvalidBodyError';

  constructor(message: string) {
    super('invalid-body', message);
  }
}

/** The client accepts no response of the type that the resource has (RFC 9110, section 15.5.7). */
export class NotAcceptableError extends GatewayError {
  override readonly name = 'NotAcceptableError';
  override readonly reason = 'not-acceptable';
  override readonly status = 406;
}

/** The path is longer than the gateway matches (RFC 9110, section 15.5.15). */
export class PathTooLongError extends GatewayError {
  override readonly name = 'PathTooLongError';
  override readonly reason = 'path-too-long';
  override readonly status = 414;

  constructor(limit: number) {
    super(`the path is longer than ${String(limit)} characters`);
  }
}

/** `Expect` names something else than `100-continue` (RFC 9110, section 10.1.1). */
export class ExpectationFailedError extends GatewayError {
  override readonly name = 'ExpectationFailedError';
  override readonly reason = 'unknown-expectation';
  override readonly status = 417;

  constructor() {
    super('the only expectation that can be met is 100-continue');
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

/** The body did not arrive completely in time. */
export class BodyTooSlowError extends GatewayError {
  override readonly name = 'BodyTooSlowError';
  override readonly reason = 'body-too-slow';
  override readonly status = 408;

  constructor() {
    super('the body did not arrive in time');
  }
}

/** A JSON-RPC message that is refused before policy is evaluated. `code` is the JSON-RPC error code. */
export class InvalidMessageError extends GatewayError {
  override readonly name = 'InvalidMessageError';
  override readonly reason = 'invalid-json-rpc';
  override readonly status: number;
  readonly code: number;
  /** The id of the message, if it could be parsed. */
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

/** The client has closed its connection. */
export class ClientGoneError extends GatewayError {
  override readonly name = 'ClientGoneError';
  override readonly reason = 'client-gone';
  override readonly status = 499;
}
