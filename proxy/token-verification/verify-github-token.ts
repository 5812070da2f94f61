import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { checkGithubToken } from '../identity-provider/github-check-token.ts';
import { githubUserOf, GithubTokenRefusedError } from '../identity-provider/github-user.ts';
import type { ClaimedIdentity } from '../identity-provider/identity-from-claims.ts';
import type { ProviderCalls } from '../identity-provider/provider-calls.ts';
import { providerUnavailable } from '../identity-provider/provider-failure.ts';
import type { Identity } from '../records/session.ts';
import { orUnavailable } from './ask-provider.ts';
import { TokenRefusedError } from './token-refused-error.ts';
import type { AccessTokenUse, VerificationContext, VerifiedToken } from './verified-token.ts';

/**
 * Verifies an access token of GitHub, which must be of the gateway's own app. Its tokens have no audience, so
 * none is valid where there is a list of allowed ones.
 */
export async function verifyGithubToken(
  token: string,
  { provider, allowedAudiences }: AccessTokenUse,
  { discovery, now }: VerificationContext,
): Promise<VerifiedToken> {
  if (allowedAudiences !== undefined) throw new TokenRefusedError('no-audience');
  const { clientId } = provider;
  const calls = discovery.calls.to(provider);
  if (clientId === undefined) throw new TokenRefusedError('other-client');
  const check = await orUnavailable(checkGithubToken({ ...provider, clientId }, token, calls));
  if (check === null) throw new TokenRefusedError('inactive-token');
  if (check.expiresAt <= now()) throw new TokenRefusedError('token-expired');
  const identity = await userOf(token, provider, calls);
  if (identity.subject !== String(check.userId)) throw new TokenRefusedError('other-subject');
  const { expiresAt } = check;
  return { identity, expiresAt, countsUntil: Infinity, isOpaque: true };
}

async function userOf(
  token: string,
  provider: CompiledIdentityProvider,
  calls: ProviderCalls,
): Promise<Identity> {
  const claimed: ClaimedIdentity = await githubUserOf(provider, token, calls).catch(
    (error: unknown) => {
      const isRefused = error instanceof GithubTokenRefusedError;
      throw isRefused ? new TokenRefusedError('inactive-token') : providerUnavailable(error);
    },
  );
  if (claimed.kind === 'identity') return claimed.identity;
  throw new TokenRefusedError(claimed.reason);
}
