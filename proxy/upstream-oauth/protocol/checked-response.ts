import { AuthorizationResponseError, validateAuthResponse } from 'oauth4webapi';

import type { UpstreamServer } from '../upstream-authorization.ts';
import { oauthClient } from './client-authentication.ts';
import { serverHost } from './server-host.ts';
import { refusedWith, TokenRequestError } from './token-request-error.ts';

/** What the gateway recorded about a response that it waits for. */
export interface ExpectedResponse {
  readonly state: string;
  /** Whether a response without `iss` is refused (RFC 9207). */
  readonly requiresIss: boolean;
}

/**
 * Returns the parameters of an authorization response, which has a code. Throws a `TokenRequestError` if the
 * server refused, or if the response is not of the server that the browser was sent to: then nothing that it
 * says counts, not even an error (RFC 9207, section 2.4).
 */
export function checkedResponse(
  authorization: UpstreamServer,
  sent: URLSearchParams,
  { state, requiresIss }: ExpectedResponse,
): URLSearchParams {
  const { server, issuer, isGiven } = authorization;
  const parameters = new URLSearchParams(sent);
  // Where the Route gives the endpoints, nothing says what the server calls itself.
  if (isGiven) parameters.delete('iss');
  const expected = {
    ...server,
    issuer,
    authorization_response_iss_parameter_supported: requiresIss && !isGiven,
  };
  try {
    const checked = validateAuthResponse(expected, oauthClient(authorization), parameters, state);
    if (checked.getAll('code').length === 1) return checked;
  } catch (error) {
    if (error instanceof AuthorizationResponseError)
      throw refusedWith(error.error, serverHost(issuer));
    // The error has the parameters, and the code among them.
  }
  throw new TokenRequestError(
    'upstream-response-invalid',
    `the authorization response is not a valid one of ${serverHost(issuer)}`,
  );
}
