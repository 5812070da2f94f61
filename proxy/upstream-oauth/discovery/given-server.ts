import type { AuthorizationServer } from 'oauth4webapi';

import type { CompiledUpstreamOAuth } from '../../../shared/snapshot/compiled-upstream-oauth.ts';

/**
 * Returns the authorization server of given endpoints; undefined if none are given. Nobody says what its issuer
 * is, so the URL of its token endpoint stands for it.
 */
export function givenServer({ endpoints }: CompiledUpstreamOAuth): AuthorizationServer | undefined {
  if (endpoints === undefined) return undefined;
  const { authorizationUrl, tokenUrl } = endpoints;
  return {
    issuer: tokenUrl,
    authorization_endpoint: authorizationUrl,
    token_endpoint: tokenUrl,
  };
}
