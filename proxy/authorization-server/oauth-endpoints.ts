import type { Endpoint } from '../endpoints/endpoint.ts';
import type { BrowserSignIn } from './browser-sign-in.ts';
import { authenticateClient } from './clients/authenticate-client.ts';
import type { ReadClientKeys } from './clients/client-keys.ts';
import type { FindClient } from './clients/find-client.ts';
import { createAuthorizeEndpoint } from './endpoints/authorize.ts';
import { createConsentEndpoint } from './endpoints/consent.ts';
import { createRegisterEndpoint } from './endpoints/register.ts';
import { createRevokeEndpoint } from './endpoints/revoke.ts';
import { createTokenEndpoint } from './endpoints/token.ts';
import type { GrantDependencies } from './grants/token-request.ts';
import { OAUTH_PATHS } from '../endpoints/oauth-paths.ts';

export interface OAuthDependencies extends GrantDependencies {
  readonly findClient: FindClient;
  readonly readClientKeys: ReadClientKeys;
  readonly browser: BrowserSignIn;
}

/**
 * The authorization server for MCP clients: its endpoints by path.
 *
 * All of them on every route host; on the authenticate host the consent page alone.
 */
export function createOAuthEndpoints(
  dependencies: OAuthDependencies,
): Readonly<Record<string, Endpoint>> {
  const { stores, findClient, readClientKeys, now } = dependencies;
  const { replays, rateLimits } = stores;
  const authentication = { findClient, readClientKeys, replays, rateLimits, now };
  const withClients = {
    ...dependencies,
    authenticateClient: (request: Parameters<typeof authenticateClient>[0]) =>
      authenticateClient(request, authentication),
  };
  return {
    [OAUTH_PATHS.register]: createRegisterEndpoint(dependencies),
    [OAUTH_PATHS.authorize]: {
      methods: ['GET', 'POST'],
      audience: 'page',
      crossOrigin: false,
      handle: createAuthorizeEndpoint(dependencies),
    },
    [OAUTH_PATHS.consent]: {
      methods: ['GET', 'POST'],
      audience: 'page',
      crossOrigin: false,
      handle: createConsentEndpoint(dependencies),
    },
    [OAUTH_PATHS.token]: {
      methods: ['POST'],
      audience: 'oauth',
      crossOrigin: true,
      handle: createTokenEndpoint(withClients),
    },
    [OAUTH_PATHS.revoke]: {
      methods: ['POST'],
      audience: 'oauth',
      crossOrigin: true,
      handle: createRevokeEndpoint(withClients),
    },
  };
}
