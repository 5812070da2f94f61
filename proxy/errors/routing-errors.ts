import { GatewayError } from './gateway-error.ts';

/** No route serves the host (421, RFC 9110, section 15.5.20), or no route of the host has the path (404). */
export class RouteNotFoundError extends GatewayError {
  override readonly name = 'RouteNotFoundError';
  override readonly reason = 'route-not-found';
  override readonly status: 404 | 421;

  constructor(status: 404 | 421, message: string) {
    super(message);
    this.status = status;
  }
}

/** The certificate of the connection is not for the host (RFC 9110, section 15.5.20). */
export class MisdirectedRequestError extends GatewayError {
  override readonly name = 'MisdirectedRequestError';
  override readonly reason = 'misdirected-request';
  override readonly status = 421;

  constructor() {
    super('the certificate of this connection is not for this host; it needs another connection');
  }
}

/** The resource does not support this method; `allow` lists those it supports. */
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
