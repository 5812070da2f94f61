import { GatewayError } from './gateway-error.ts';

/**
 * A connection cannot begin or end here, and nobody may be told but the person at the browser: the request
 * is not theirs, or does not say where to return. Shown on a page.
 */
export class ConnectionPageError extends GatewayError {
  override readonly name = 'ConnectionPageError';
  override readonly reason: string;
  override readonly status: 400 | 403;
  /** The text of the page. It has nothing that a stranger can choose. */
  readonly explanation: string;
  /** Whether another user of this browser could do it, so that the page offers to sign out. */
  readonly offersSignOut: boolean;

  constructor(
    reason: string,
    explanation: string,
    { status = 400, offersSignOut = false }: { status?: 400 | 403; offersSignOut?: boolean } = {},
  ) {
    super(explanation);
    this.reason = reason;
    this.status = status;
    this.explanation = explanation;
    this.offersSignOut = offersSignOut;
  }
}

/**
 * Why no connection was made, in the words of `connect_error`. The first three are as in RFC 6749, section
 * 4.1.2.1; `not_permitted` is the gateway's policy, `configuration_error` needs the administrator, and
 * `route_changed` only another try.
 */
export type ConnectError =
  | 'access_denied'
  | 'temporarily_unavailable'
  | 'server_error'
  | 'not_permitted'
  | 'configuration_error'
  | 'route_changed';

/** No connection was made, and whoever waits for it is told: an application, an MCP client or a page. */
export class ConnectionFailedError extends GatewayError {
  override readonly name = 'ConnectionFailedError';
  override readonly reason: string;
  override readonly status = 502;
  readonly connectError: ConnectError;

  constructor(reason: string, message: string, connectError: ConnectError) {
    super(message);
    this.reason = reason;
    this.connectError = connectError;
  }
}
