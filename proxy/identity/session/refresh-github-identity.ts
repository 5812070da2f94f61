import { GithubRefusedError } from '../../identity-provider/github-request.ts';
import { requestGithubTokens } from '../../identity-provider/github-tokens.ts';
import { githubUserOf, GithubTokenRefusedError } from '../../identity-provider/github-user.ts';
import type { ProviderCalls } from '../../identity-provider/provider-calls.ts';
import { providerUnavailable } from '../../identity-provider/provider-failure.ts';
import type { SignInProvider } from '../../identity-provider/require-identity-provider.ts';
import type { SignInRecord } from '../../records/sign-in-record.ts';
import type { IdentityRefresh, SignInOver } from './identity-from-refreshed-claims.ts';

/** GitHub's codes by which it refuses this user. All others concern the gateway, or are temporary. */
const REFUSALS: ReadonlySet<string> = new Set(['bad_refresh_token', 'unverified_user_email']);

const OVER: SignInOver = { kind: 'over', reason: 'invalid-grant' };

/**
 * Gets the user's current identity from GitHub: with the access token of the sign-in if that does not expire,
 * else with a refresh token, which the first request uses up. `keep` stores the next one.
 *
 * Rejects with an `UnavailableError` if GitHub does not tell, and with the error of `keep`.
 */
export async function refreshGithubIdentity(
  provider: SignInProvider,
  { refreshToken, accessToken = '', identity }: SignInRecord,
  keep: (refreshToken: string) => Promise<void>,
  calls: ProviderCalls,
): Promise<IdentityRefresh> {
  const token =
    refreshToken === undefined ? accessToken : await nextToken(provider, refreshToken, keep, calls);
  if (token === null) return OVER;
  const claimed = await githubUserOf(provider, token, calls).catch((error: unknown) => {
    if (error instanceof GithubTokenRefusedError) return null;
    throw providerUnavailable(error);
  });
  if (claimed === null) return OVER;
  if (claimed.kind === 'unusable') return { kind: 'over', reason: claimed.reason };
  if (claimed.identity.subject !== identity.subject)
    return { kind: 'over', reason: 'other-subject' };
  return { kind: 'refreshed', identity: claimed.identity };
}

/** Returns a new access token; null if GitHub refuses the user. */
async function nextToken(
  provider: SignInProvider,
  refreshToken: string,
  keep: (refreshToken: string) => Promise<void>,
  calls: ProviderCalls,
): Promise<string | null> {
  const parameters = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const tokens = await requestGithubTokens(provider, parameters, calls).catch((error: unknown) => {
    if (error instanceof GithubRefusedError && REFUSALS.has(error.code)) return null;
    throw providerUnavailable(error);
  });
  if (tokens?.refreshToken !== undefined) await keep(tokens.refreshToken);
  return tokens?.accessToken ?? null;
}
