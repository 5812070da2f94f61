import { GatewayError } from '../errors/gateway-error.ts';
import { UpstreamTimeoutError, UpstreamUnreachableError } from '../errors/upstream-errors.ts';

/** Translates an error of an upstream's connection into an error of the gateway. */
export function upstreamFailure(error: Error): GatewayError {
  if (error instanceof GatewayError) return error;
  if (codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT') {
    return new UpstreamTimeoutError('the upstream did not begin its response in time', {
      cause: error,
    });
  }
  return new UpstreamUnreachableError('the upstream cannot be reached, or closed the connection', {
    cause: error,
  });
}

/** Returns whether an upstream closed a connection after a request was written to it. */
export function isConnectionLost(error: Error): boolean {
  return LOST.has(codeOf(error));
}

const LOST: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Returns whether an error before anything was sent means that there is no connection. */
export function isNotConnected(error: Error): boolean {
  return NOT_CONNECTED.has(codeOf(error));
}

const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
