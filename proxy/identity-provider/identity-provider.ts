import { githubAuthorizationUrl, identifyWithGithub } from './github-sign-in.ts';
import { identifyWithOpenId, openIdAuthorizationUrl } from './openid-sign-in.ts';
import type { AuthorizationSecrets, ProviderAnswer } from './provider-answer.ts';
import type { ProviderDiscovery } from './provider-discovery.ts';
import type { SignInProvider } from './require-identity-provider.ts';

/** Returns the URL at which a user signs in: authorization code flow with PKCE (S256), state and nonce. */
export function authorizationUrl(
  provider: SignInProvider,
  discovery: ProviderDiscovery,
  redirectUri: string,
  secrets: AuthorizationSecrets,
): Promise<string> {
  return provider.type === 'github'
    ? githubAuthorizationUrl(provider, redirectUri, secrets)
    : openIdAuthorizationUrl(provider, discovery, redirectUri, secrets);
}

/** Finds out who signed in from the provider's response, which the browser brought as the query of `url`. */
export function identify(
  provider: SignInProvider,
  discovery: ProviderDiscovery,
  url: URL,
  secrets: AuthorizationSecrets,
): Promise<ProviderAnswer> {
  return provider.type === 'github'
    ? identifyWithGithub(provider, url, secrets, discovery.calls.to(provider))
    : identifyWithOpenId(provider, discovery, url, secrets);
}
