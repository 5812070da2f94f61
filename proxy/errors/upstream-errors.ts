import { GatewayError } from './gateway-error.ts';

/** The upstream cannot be reached, or closed the connection before it responded. */
export class UpstreamUnreachableError extends GatewayError {
  override readonly name = 'UpstreamUnreachableError';
  override readonly reason = 'upstream-unreachable';
  override readonly status = 502;
}

/** The upstream answered a WebSocket handshake with a response, which the client has. It is logged only. */
export class WebSocketDeclinedError extends GatewayError {
  override readonly name = 'WebSocketDeclinedError';
  override readonly reason = 'websocket-declined';
  override readonly status = 502;

  constructor(status: number) {
    super(`the upstream declined the WebSocket with status ${String(status)}`);
  }
}

/** The upstream did not begin its response in time. */
export class UpstreamTimeoutError extends GatewayError {
  override readonly name = 'UpstreamTimeoutError';
  override readonly reason = 'upstream-timeout';
  override readonly status = 504;
}
