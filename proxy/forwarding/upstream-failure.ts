import { GatewayError } from '../errors/gateway-error.ts';
import { UpstreamTimeoutError, UpstreamUnreachableError } from '../errors/upstream-errors.ts';
import { ConnectionError } from '../upstream-client/connection-error.ts';

/** Translates an error of an upstream's connection into an error of the gateway. */
export function upstreamFailure(error: Error): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof ConnectionError && error.code === 'response-timeout') {
    return new UpstreamTimeoutError('the upstream did not begin its response in time', {
      cause: error,
    });
  }
  return new UpstreamUnreachableError('the upstream cannot be reached, or closed the connection', {
    cause: error,
  });
}
