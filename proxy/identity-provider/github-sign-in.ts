import { calculatePKCECodeChallenge } from 'openid-client';

import { githubUserOf } from './github-user.ts';
import { GithubRefusedError } from './github-request.ts';
import { requestGithubTokens, type GithubTokens } from './github-tokens.ts';
import type { AuthorizationSecrets, ProviderAnswer } from './provider-answer.ts';
import type { ProviderCalls } from './provider-calls.ts';
import type { SignInProvider } from './require-identity-provider.ts';

/** Allows to read the addresses of a user; who the user is needs no scope. */
const DEFAULT_SCOPES = ['user:email'];

/** Returns the URL at which a user signs in with GitHub: authorization code flow with PKCE (S256) and state. */
export async function githubAuthorizationUrl(
  { issuer, clientId, scopes = DEFAULT_SCOPES, authorizationParams }: SignInProvider,
  redirectUri: string,
  { state, codeVerifier }: AuthorizationSecrets,
): Promise<string> {
  const query = new URLSearchParams({
    ...authorizationParams,
    // Last, so that no configured parameter can replace them.
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
  return `${issuer}/login/oauth/authorize?${query.toString()}`;
}

/** Finds out who signed in from GitHub's answer, which the browser brought as the query of `url`. */
export async function identifyWithGithub(
  provider: SignInProvider,
  url: URL,
  { codeVerifier }: Pick<AuthorizationSecrets, 'codeVerifier'>,
  calls: ProviderCalls,
): Promise<ProviderAnswer> {
  const error = url.searchParams.get('error');
  if (error !== null) throw new GithubRefusedError(error);
  const parameters = {
    code: url.searchParams.get('code') ?? '',
    redirect_uri: url.origin + url.pathname,
    code_verifier: codeVerifier,
  };
  const tokens = await requestGithubTokens(provider, parameters, calls);
  const claimed = await githubUserOf(provider, tokens.accessToken, calls);
  return { claimed, ...renewalOf(tokens) };
}

/** Returns what asks about the user again later. */
function renewalOf({
  accessToken,
  expires,
  refreshToken,
}: GithubTokens): Pick<ProviderAnswer, 'refreshToken' | 'accessToken'> {
  if (refreshToken !== undefined) return { refreshToken };
  return expires ? {} : { accessToken };
}
