import { PATHS } from '../endpoints/paths.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { authenticateClient, type ClientRequest } from './clients/authenticate-client.ts';
import type { ReadClientKeys } from './clients/client-keys.ts';
import { createAuthorizeEndpoint } from './endpoints/authorize.ts';
import { createConsentEndpoint, type ConsentOptions } from './endpoints/consent.ts';
import { createRegisterEndpoint } from './endpoints/register.ts';
import { createRevokeEndpoint } from './endpoints/revoke.ts';
import { createTokenEndpoint } from './endpoints/token.ts';
import type { GrantOptions } from './grants/token-request.ts';

/** Options of the endpoints of the authorization server. */
export interface OAuthEndpointOptions
  extends
    GrantOptions,
    Pick<
      ConsentOptions,
      | 'findClient'
      | 'sessionCookies'
      | 'redirectToSignIn'
      | 'logger'
      | 'connectLinks'
      | 'internalTokens'
    > {
  readonly readClientKeys: ReadClientKeys;
}

/**
 * Makes the endpoints of the authorization server for MCP clients, by path.
 *
 * Every route host has all of them; the authenticate host serves the consent page only.
 */
export function createOAuthEndpoints(
  options: OAuthEndpointOptions,
): Readonly<Record<string, Endpoint>> {
  const { stores, findClient, readClientKeys, now } = options;
  const { replays, rateLimits } = stores;
  const authentication = { findClient, readClientKeys, replays, rateLimits, now };
  const withClients = {
    ...options,
    authenticateClient: (request: ClientRequest) => authenticateClient(request, authentication),
  };
  return {
    [PATHS.register]: createRegisterEndpoint(options),
    [PATHS.authorize]: createAuthorizeEndpoint(options),
    [PATHS.consent]: createConsentEndpoint(options),
    [PATHS.token]: createTokenEndpoint(withClients),
    [PATHS.revoke]: createRevokeEndpoint(withClients),
  };
}
