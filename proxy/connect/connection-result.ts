import { ConnectionFailedError, type ConnectError } from '../errors/connection-errors.ts';
import { UnavailableError } from '../errors/unavailable-error.ts';
import { UpstreamAuthError } from '../errors/upstream-auth-error.ts';
import { OutboundRefusedError } from '../outbound/outbound-errors.ts';
import { TokenRequestError } from '../upstream-oauth/protocol/token-request-error.ts';

/** How an attempt to connect ended. */
export type ConnectionResult = { readonly kind: 'connected' } | FailedConnection;

/** An attempt that ended with an error. */
export interface FailedConnection {
  readonly kind: 'failed';
  readonly connectError: ConnectError;
  /** What the administrator can change. */
  readonly forAdministrator?: string;
}

/** The user is connected. */
export const CONNECTED: ConnectionResult = { kind: 'connected' };

/** Returns the result of an attempt that ended with an error. */
export function failedResult(error: unknown): FailedConnection {
  if (error instanceof ConnectionFailedError) {
    return { kind: 'failed', connectError: error.connectError };
  }
  if (error instanceof UpstreamAuthError) return setUpWrongly(error);
  if (error instanceof TokenRequestError) {
    const { cause } = error;
    // Trying again later cannot help: the gateway may not ask that host.
    if (cause instanceof OutboundRefusedError) return notAllowed(cause);
    return { kind: 'failed', connectError: errorOfTokenRequest(error) };
  }
  const connectError =
    error instanceof UnavailableError ? 'temporarily_unavailable' : 'server_error';
  return { kind: 'failed', connectError };
}

function setUpWrongly({ isTemporary, message }: UpstreamAuthError): FailedConnection {
  if (isTemporary) return { kind: 'failed', connectError: 'temporarily_unavailable' };
  return { kind: 'failed', connectError: 'configuration_error', forAdministrator: message };
}

function notAllowed({ message }: OutboundRefusedError): FailedConnection {
  return { kind: 'failed', connectError: 'configuration_error', forAdministrator: message };
}

function errorOfTokenRequest({ reason, code = '' }: TokenRequestError): ConnectError {
  if (reason === 'upstream-authorization-unavailable') return 'temporarily_unavailable';
  if (reason === 'upstream-authorization-refused') return REFUSALS[code] ?? 'server_error';
  return 'server_error';
}

/** Error codes of RFC 6749, sections 4.1.2.1 and 5.2, and of RFC 8707; others are `server_error`. */
const REFUSALS: Readonly<Record<string, ConnectError | undefined>> = {
  access_denied: 'access_denied',
  temporarily_unavailable: 'temporarily_unavailable',
  invalid_client: 'configuration_error',
  unauthorized_client: 'configuration_error',
  invalid_request: 'configuration_error',
  invalid_scope: 'configuration_error',
  invalid_target: 'configuration_error',
  unsupported_response_type: 'configuration_error',
};
