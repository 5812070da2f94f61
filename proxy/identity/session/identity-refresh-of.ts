import type { ProviderDiscovery } from '../../identity-provider/provider-discovery.ts';
import { providerUnavailable } from '../../identity-provider/provider-failure.ts';
import type { SignInProvider } from '../../identity-provider/require-identity-provider.ts';
import type { SignInRecord } from '../../records/sign-in-record.ts';
import type { IdentityRefresh } from './identity-from-refreshed-claims.ts';
import { refreshGithubIdentity } from './refresh-github-identity.ts';
import { refreshIdentity } from './refresh-identity.ts';

/** Gets the user's current identity. `keep` stores the next refresh token as soon as there is one. */
type RefreshOfIdentity = (
  keep: (refreshToken: string) => Promise<void>,
) => Promise<IdentityRefresh>;

/**
 * Returns what gets the current identity of the user of a sign-in from its provider; undefined if the provider
 * gave nothing to do that with. Rejects with an `UnavailableError` if the provider cannot be discovered.
 */
export async function identityRefreshOf(
  signIn: SignInRecord,
  provider: SignInProvider,
  discovery: ProviderDiscovery,
): Promise<RefreshOfIdentity | undefined> {
  const { refreshToken, accessToken, identity } = signIn;
  if (provider.type === 'github') {
    if (refreshToken === undefined && accessToken === undefined) return undefined;
    return (keep) => refreshGithubIdentity(provider, signIn, keep, discovery.calls.to(provider));
  }
  if (refreshToken === undefined) return undefined;
  const client = await discovery.clientOf(provider).catch((error: unknown) => {
    throw providerUnavailable(error);
  });
  return (keep) => refreshIdentity(client, { refreshToken, identity, settings: provider }, keep);
}
