import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  type Configuration as ProviderClient,
  type IDToken,
} from 'openid-client';

import type { SourceClaims } from './groups-in-claims.ts';
import { identityFromClaims, type ClaimedIdentity } from './identity-from-claims.ts';
import { lookUpLeftOutGroups } from './look-up-groups.ts';
import type { AuthorizationSecrets, ProviderAnswer } from './provider-answer.ts';
import type { ProviderDiscovery } from './provider-discovery.ts';
import type { SignInProvider } from './require-identity-provider.ts';
import { hasScopesForClaims, OFFLINE_ACCESS, scopesForClaims } from './scopes-for-claims.ts';
import { withUnknownGroups } from './unknown-groups.ts';

/** Returns the URL at which a user signs in with an OpenID provider. */
export async function openIdAuthorizationUrl(
  provider: SignInProvider,
  discovery: ProviderDiscovery,
  redirectUri: string,
  { state, nonce, codeVerifier }: AuthorizationSecrets,
): Promise<string> {
  const client = await discovery.clientOf(provider);
  const url = buildAuthorizationUrl(client, {
    ...provider.authorizationParams,
    // Last, so that no configured parameter can replace them.
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: scopesOf(provider, client).join(' '),
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
  return url.href;
}

/** A provider may refuse an unknown scope, so `offline_access` is requested only if it is listed. */
function scopesOf(provider: SignInProvider, client: ProviderClient): readonly string[] {
  if (provider.scopes !== undefined) return provider.scopes;
  const { scopes_supported: supported } = client.serverMetadata();
  const scopes = scopesForClaims(provider);
  return supported?.includes(OFFLINE_ACCESS) === true ? [...scopes, OFFLINE_ACCESS] : scopes;
}

/**
 * Finds out who signed in from the answer of an OpenID provider, which the browser brought as the query of
 * `url`.
 *
 * State, issuer (RFC 9207), nonce, PKCE and the signature of the identity token are checked. Userinfo is always
 * requested if the provider has it, since groups are often only there. If it fails, so does the sign-in:
 * without groups, a user would pass a policy that denies by group.
 */
export async function identifyWithOpenId(
  provider: SignInProvider,
  discovery: ProviderDiscovery,
  url: URL,
  { state, nonce, codeVerifier }: AuthorizationSecrets,
): Promise<ProviderAnswer> {
  const client = await discovery.clientOf(provider);
  const tokens = await authorizationCodeGrant(client, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
  });
  const idToken = tokens.claims();
  if (idToken === undefined) throw new Error('the token response has no identity token');
  const userInfo = await userInfoOf(client, tokens.access_token, idToken);
  const sources = [idToken, userInfo];
  const lookedUp = await lookUpLeftOutGroups(client, tokens.access_token, sources, provider);
  const claimed = identityFromClaims(provider, idToken, userInfo, lookedUp);
  const { refresh_token: refreshToken, scope } = tokens;
  return {
    claimed: isComplete(provider, scope) ? claimed : withDoubt(claimed, sources, provider),
    ...(refreshToken !== undefined && { refreshToken }),
  };
}

/** Attack: the user takes scopes from the URL of the provider, which then says so (RFC 6749, section 5.1). */
function isComplete(provider: SignInProvider, scope: string | undefined): boolean {
  return scope === undefined || hasScopesForClaims(provider, scope.split(' '));
}

function withDoubt(
  claimed: ClaimedIdentity,
  sources: readonly SourceClaims[],
  provider: SignInProvider,
): ClaimedIdentity {
  if (claimed.kind === 'unusable') return claimed;
  return { ...claimed, identity: withUnknownGroups(claimed.identity, sources, provider) };
}

/** OpenID Connect Core, section 5.3.2: the `sub` of userinfo must be the identity token's. */
async function userInfoOf(
  client: ProviderClient,
  accessToken: string,
  { sub }: IDToken,
): Promise<Readonly<Record<string, unknown>>> {
  if (client.serverMetadata().userinfo_endpoint === undefined) return {};
  return fetchUserInfo(client, accessToken, sub);
}
