import {
  type AuthorizationServer,
  customFetch,
  dynamicClientRegistrationRequest,
  OperationProcessingError,
  processDynamicClientRegistrationResponse,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';

import { shownErrorCode } from '../../errors/shown-error-code.ts';
import { UpstreamAuthError } from '../../errors/upstream-auth-error.ts';
import {
  UPSTREAM_AUTH_METHODS,
  type UpstreamAuthMethod,
  type UpstreamRegistration,
} from '../../records/upstream-registration.ts';
import { BY_GUARDED_FETCH } from '../calls/by-guarded-fetch.ts';
import { callFailure, statusFailure } from '../calls/discovery-failures.ts';
import type { UpstreamFetch } from '../calls/upstream-calls.ts';
import type { Origin } from '../../../shared/snapshot/origin.ts';
import { clientMetadata, upstreamCallbackUrl } from './client-metadata.ts';
import { conformRegistration } from './conform-registration.ts';

const STEP = 'registration';
const SERVER_ERROR_STATUS = 500;
const SECOND = 1000;

/** What an operator can do about a server that does not register the gateway. */
const GIVE_CREDENTIALS = { setting: 'mcp.server.upstreamOauth2.clientId' };

/** RFC 6749, appendix A.1; far longer than real ones. */
const CLIENT_ID = /^[\x20-\x7e]{1,2048}$/;

/** What a registration says about itself; none of it is checked yet. */
type Registered = Awaited<ReturnType<typeof processDynamicClientRegistrationResponse>>;

/** Options of `registerClient`. */
export interface RegisterClientOptions {
  readonly origin: Origin;
  /** The scopes that users will be asked for; empty: the server decides. */
  readonly scopes: readonly string[];
  /** Of the authorization server. */
  readonly fetch: UpstreamFetch;
  readonly now: number;
}

/**
 * Registers the gateway at an authorization server (RFC 7591). Rejects with an `UpstreamAuthError` if the server
 * takes no registrations, refuses this one, or returns another client than it was asked for.
 */
export async function registerClient(
  server: AuthorizationServer,
  { origin, scopes, fetch, now }: RegisterClientOptions,
): Promise<UpstreamRegistration> {
  const { endpoint, authMethod } = registrationAt(server);
  const metadata = {
    ...clientMetadata(origin, authMethod),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
  const options = { [customFetch]: fetch, ...BY_GUARDED_FETCH };
  try {
    const response = await dynamicClientRegistrationRequest(server, metadata, options);
    if (response.status >= SERVER_ERROR_STATUS)
      throw statusFailure(response.status, endpoint, STEP);
    const conform = await conformRegistration(response);
    const registered = await processDynamicClientRegistrationResponse(conform);
    return checkedRegistration(registered, { authMethod, origin, now, endpoint });
  } catch (error) {
    throw registrationFailure(error, endpoint);
  }
}

/**
 * Returns where a server registers the gateway, and how the gateway authenticates then: by the first of its
 * methods that the server lists; without a list it is `client_secret_basic`. Throws an `UpstreamAuthError` if it
 * cannot be registered.
 */
export function registrationAt(server: AuthorizationServer): {
  readonly endpoint: string;
  readonly authMethod: UpstreamAuthMethod;
} {
  const { registration_endpoint: endpoint, issuer } = server;
  if (endpoint === undefined) throw noRegistration(server);
  const listed = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authMethod = UPSTREAM_AUTH_METHODS.find((candidate) => listed.includes(candidate));
  if (authMethod !== undefined) return { endpoint, authMethod };
  throw refused(`${issuer} lists no method of client authentication that the gateway has`, issuer);
}

function checkedRegistration(
  registered: Registered,
  requested: {
    readonly authMethod: UpstreamAuthMethod;
    readonly origin: Origin;
    readonly now: number;
    readonly endpoint: string;
  },
): UpstreamRegistration {
  const {
    client_id: clientId,
    client_secret: secret,
    client_secret_expires_at: expires,
  } = registered;
  const redirectUri = upstreamCallbackUrl(requested.origin);
  const problem = problemOf(registered, redirectUri);
  if (problem !== undefined) throw refused(`${requested.endpoint} ${problem}`, requested.endpoint);
  const authMethod = methodOf(registered, requested);
  return {
    clientId,
    ...(typeof secret === 'string' && authMethod !== 'none' && { clientSecret: secret }),
    ...(typeof expires === 'number' && expires > 0 && { secretExpiresAt: expires * SECOND }),
    authMethod,
    registeredAt: requested.now,
  };
}

/** RFC 7591, section 3.2.1: the server may have registered other values, and the client checks them. */
function problemOf(
  { client_id: clientId, redirect_uris: redirectUris }: Registered,
  redirectUri: string,
): string | undefined {
  if (!CLIENT_ID.test(clientId)) return 'registered a client whose id is not one';
  if (redirectUris === undefined) return undefined;
  const isRegistered = Array.isArray(redirectUris) && redirectUris.includes(redirectUri);
  return isRegistered ? undefined : 'registered other redirect URIs';
}

function methodOf(
  registered: Registered,
  requested: { readonly authMethod: UpstreamAuthMethod; readonly endpoint: string },
): UpstreamAuthMethod {
  const { token_endpoint_auth_method: named = requested.authMethod, client_secret: secret } =
    registered;
  const method = UPSTREAM_AUTH_METHODS.find((candidate) => candidate === named);
  const { endpoint } = requested;
  if (method === undefined) {
    throw refused(
      `${endpoint} registered a method of authentication that was not asked for`,
      endpoint,
    );
  }
  if (method !== 'none' && typeof secret !== 'string') {
    throw refused(`${endpoint} registered a client with a secret, and sent none`, endpoint);
  }
  return method;
}

/** Returns the error for a server without dynamic registration. */
function noRegistration({ issuer }: AuthorizationServer): UpstreamAuthError {
  const message = `${issuer} registers no clients by itself`;
  const details = { step: STEP, host: URL.parse(issuer)?.host, missing: GIVE_CREDENTIALS } as const;
  return new UpstreamAuthError('upstream-auth-no-registration', message, details);
}

/** Errors of the protocol contain responses, and responses contain secrets: only their code is kept. */
function registrationFailure(error: unknown, endpoint: string): unknown {
  if (error instanceof UpstreamAuthError) return error;
  if (error instanceof ResponseBodyError) {
    const code = shownErrorCode(error.error);
    return refused(`${endpoint} refused to register the gateway: ${code}`, endpoint);
  }
  const isOfProtocol =
    error instanceof OperationProcessingError || error instanceof WWWAuthenticateChallengeError;
  if (isOfProtocol || error instanceof TypeError) {
    return refused(`${endpoint} did not answer with a registration: ${error.message}`, endpoint);
  }
  return callFailure(error, endpoint, STEP);
}

function refused(message: string, url: string): UpstreamAuthError {
  const details = { step: STEP, host: URL.parse(url)?.host, missing: GIVE_CREDENTIALS } as const;
  return new UpstreamAuthError('upstream-auth-registration-refused', message, details);
}
