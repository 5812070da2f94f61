import { calculatePKCECodeChallenge } from 'oauth4webapi';

import type { CompiledUpstreamOAuth } from '../../../shared/snapshot/compiled-upstream-oauth.ts';
import type { UpstreamAuthorization } from '../upstream-authorization.ts';

/** What is of one connection. */
export interface ConnectionParameters {
  /** The gateway's callback. */
  readonly redirectUri: string;
  readonly state: string;
  /** PKCE verifier (RFC 7636). */
  readonly codeVerifier: string;
}

/** Returns the URL that a browser is sent to, so that the user authorizes the gateway. */
export async function upstreamAuthorizationUrl(
  { server, client, resource, scopes }: UpstreamAuthorization,
  route: Pick<CompiledUpstreamOAuth, 'authorizationParams' | 'sendsResource'>,
  { redirectUri, state, codeVerifier }: ConnectionParameters,
): Promise<URL> {
  if (server.authorization_endpoint === undefined) {
    throw new Error('discovery finds no server without an authorization endpoint');
  }
  const url = new URL(server.authorization_endpoint);
  // First, so that they cannot replace what the protocol sets.
  for (const [name, value] of Object.entries(route.authorizationParams)) {
    url.searchParams.set(name, value);
  }
  const parameters = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(route.sendsResource && { resource }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}
