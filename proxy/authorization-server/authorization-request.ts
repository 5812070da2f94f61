import { AuthorizationPageError } from '../errors/authorization-page-errors.ts';
import {
  InvalidRequestError,
  UnauthorizedClientError,
  UnsupportedResponseTypeError,
} from '../errors/oauth-errors.ts';
import type { ResponseTarget } from './authorization-response.ts';
import type { Client } from '../records/client.ts';
import { matchesRedirectUri } from './clients/redirect-uri.ts';
import { parameter, refuseRepeated, requiredParameter } from './parameters.ts';
import type { PendingAuthorization } from '../records/pending-authorization.ts';
import { isCodeChallenge } from './pkce.ts';
import { authorizableResource, type Issuer } from './resources.ts';
import { parseScope } from './scope.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

const MAX_STATE_LENGTH = 2048;

/** A loopback redirect URI without a port: the request chooses it. */
const PORTLESS_LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[/?]|$)/;

/** Returns the client ID of a request; throws an `AuthorizationPageError` unless there is exactly one. */
export function clientIdOf(parameters: URLSearchParams): string {
  const clientId = onlyValue(parameters, 'client_id');
  if (clientId !== undefined) return clientId;
  throw new AuthorizationPageError(
    'client-id-missing',
    'The application did not say who it is: its request has no client_id.',
  );
}

/**
 * Returns where the response to an authorization request goes. Throws an `AuthorizationPageError` if the
 * redirect URI is not one of the client's (OAuth 2.1, section 4.1.2.1: never redirect to it).
 */
export function responseTargetOf(
  parameters: URLSearchParams,
  client: Client,
  issuer: Origin,
): ResponseTarget {
  const redirectUri = onlyValue(parameters, 'redirect_uri') ?? onlyRedirectUri(client);
  if (!matchesRedirectUri(redirectUri, client.metadata.redirectUris)) {
    throw new AuthorizationPageError(
      'redirect-uri-not-registered',
      'The application asked for its answer at an address (redirect_uri) that it has not registered.',
    );
  }
  // A state that is too long or sent twice is not echoed; the request is refused because of it.
  const states = parameters.getAll('state').filter((state) => state !== '');
  const [state] = states;
  const isEchoed = state !== undefined && states.length === 1 && state.length <= MAX_STATE_LENGTH;
  return { issuer, redirectUri, ...(isEchoed && { state }) };
}

function onlyRedirectUri({ metadata: { redirectUris } }: Client): string {
  const [only, another] = redirectUris;
  if (only !== undefined && another === undefined && !PORTLESS_LOOPBACK.test(only)) return only;
  throw new AuthorizationPageError(
    'redirect-uri-missing',
    'The application did not say where to send its answer: its request has no redirect_uri.',
  );
}

function onlyValue(parameters: URLSearchParams, name: string): string | undefined {
  if (parameters.getAll(name).length > 1) {
    throw new AuthorizationPageError(
      'parameter-repeated',
      `The application sent ${name} more than once.`,
    );
  }
  return parameter(parameters, name);
}

/**
 * Reads the rest of an authorization request. Throws an `OAuthError` that may be sent to the client.
 *
 * PKCE with S256 is required of every client (OAuth 2.1, section 4.1.1; MCP authorization).
 */
export function readAuthorizationRequest(
  parameters: URLSearchParams,
  client: Client,
  target: ResponseTarget,
  issuer: Issuer,
): PendingAuthorization {
  refuseRepeated(parameters);
  refuseResponseType(parameters, client);
  if ((parameter(parameters, 'state') ?? '').length > MAX_STATE_LENGTH) {
    throw new InvalidRequestError(`state is longer than ${String(MAX_STATE_LENGTH)} characters`);
  }
  return {
    ...target,
    clientId: client.id,
    redirectUriWasSent: parameter(parameters, 'redirect_uri') !== undefined,
    codeChallenge: codeChallengeOf(parameters),
    resource: authorizableResource(parameters, issuer),
    scopes: parseScope(parameter(parameters, 'scope')),
    ...readPrompt(parameters),
  };
}

/** OpenID Connect Core, section 3.1.2.1: values that are not known here are ignored. */
function readPrompt(
  parameters: URLSearchParams,
): Pick<PendingAuthorization, 'askAgain' | 'isSilent'> {
  const values = (parameter(parameters, 'prompt') ?? '').split(' ').filter((value) => value !== '');
  const isSilent = values.includes('none');
  if (isSilent && values.length > 1) {
    throw new InvalidRequestError('prompt=none cannot be combined with another value');
  }
  return { askAgain: values.includes('consent'), ...(isSilent && { isSilent }) };
}

function refuseResponseType(parameters: URLSearchParams, client: Client): void {
  if (requiredParameter(parameters, 'response_type') !== 'code') {
    throw new UnsupportedResponseTypeError('response_type must be code');
  }
  if ((parameter(parameters, 'response_mode') ?? 'query') !== 'query') {
    throw new InvalidRequestError('response_mode must be query');
  }
  if (!client.metadata.grantTypes.includes('authorization_code')) {
    throw new UnauthorizedClientError('the client is not registered for authorization_code');
  }
}

function codeChallengeOf(parameters: URLSearchParams): string {
  const challenge = requiredParameter(parameters, 'code_challenge');
  // A missing method means `plain` (RFC 7636, section 4.3), which protects against nothing here.
  if (parameter(parameters, 'code_challenge_method') !== 'S256') {
    throw new InvalidRequestError('code_challenge_method must be S256');
  }
  if (!isCodeChallenge(challenge)) {
    throw new InvalidRequestError('code_challenge must be 43 characters of base64url');
  }
  return challenge;
}
