import { GatewayError } from '../errors/gateway-error.ts';
import { UpstreamTimeoutError, UpstreamUnreachableError } from '../errors/upstream-errors.ts';

/** Says what went wrong with an upstream in the gateway's words. */
export function upstreamFailure(error: Error): GatewayError {
  if (error instanceof GatewayError) return error;
  if (codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT') {
    return new UpstreamTimeoutError('the upstream did not begin its response in time', {
      cause: error,
    });
  }
  return new UpstreamUnreachableError('the upstream cannot be reached, or broke off', {
    cause: error,
  });
}

/** Whether an upstream closed a connection that a request had been written to. */
export function isConnectionLost(error: Error): boolean {
  return LOST.has(codeOf(error));
}

const LOST: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Whether an error, before anything was sent, says that there is no connection to an upstream. */
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
