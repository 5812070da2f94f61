import { InvalidClientError, InvalidRequestError } from '../../errors/oauth-errors.ts';
import { parameter, refuseRepeated } from '../parameters.ts';
import { parseBasicCredentials } from './basic-credentials.ts';
import { claimedClientId } from './client-assertion.ts';

/** `client_assertion_type` of a JWT (RFC 7523, section 2.2). */
const JWT_BEARER_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The credentials by which a request authenticates its client. */
export type ClientCredentials =
  | { readonly kind: 'none'; readonly clientId: string }
  | { readonly kind: 'secret'; readonly clientId: string; readonly secret: string }
  | { readonly kind: 'assertion'; readonly clientId: string; readonly assertion: string };

/**
 * Reads the client credentials of a request, unverified.
 *
 * Throws `InvalidRequestError` if there are several, `InvalidClientError` if there are none.
 */
export function readCredentials({
  authorization,
  form,
}: {
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}): ClientCredentials {
  refuseRepeated(form);
  const clientId = parameter(form, 'client_id');
  const offered = [
    basicCredentials(authorization),
    postedSecret(form, clientId),
    assertionCredentials(form),
  ].filter((credentials) => credentials !== undefined);
  const [credentials] = offered;
  // RFC 6749, section 2.3: no more than one method in each request.
  if (offered.length > 1) throw new InvalidRequestError('the client authenticates in several ways');
  if (credentials === undefined) {
    if (clientId === undefined) throw new InvalidClientError('the client is not named');
    return { kind: 'none', clientId };
  }
  if (clientId !== undefined && clientId !== credentials.clientId) {
    throw new InvalidRequestError('client_id is not the client that authenticates');
  }
  return credentials;
}

function basicCredentials(authorization: string | undefined): ClientCredentials | undefined {
  if (authorization === undefined) return undefined;
  const credentials = parseBasicCredentials(authorization);
  if (credentials === null) throw new InvalidClientError('the Authorization header is not usable');
  return { kind: 'secret', ...credentials };
}

function postedSecret(
  form: URLSearchParams,
  clientId: string | undefined,
): ClientCredentials | undefined {
  const secret = parameter(form, 'client_secret');
  if (secret === undefined) return undefined;
  if (clientId === undefined) throw new InvalidClientError('the client is not named');
  return { kind: 'secret', clientId, secret };
}

function assertionCredentials(form: URLSearchParams): ClientCredentials | undefined {
  const assertion = parameter(form, 'client_assertion');
  const type = parameter(form, 'client_assertion_type');
  if (assertion === undefined && type === undefined) return undefined;
  if (assertion === undefined || type !== JWT_BEARER_ASSERTION) {
    throw new InvalidClientError('the client assertion is not a JWT');
  }
  return { kind: 'assertion', clientId: claimedClientId(assertion), assertion };
}
