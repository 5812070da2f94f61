import type { ProviderCalls } from './provider-calls.ts';
import type { SignInProvider } from './require-identity-provider.ts';
import { GithubRefusedError, memberIn, requestGithub } from './github-request.ts';

/** Tokens of a user of GitHub. */
export interface GithubTokens {
  readonly accessToken: string;
  /** Whether the access token expires: those of GitHub Apps do by default, others never. */
  readonly expires: boolean;
  /** Only with an access token that expires. It works once, and ends the access token. */
  readonly refreshToken?: string;
}

/**
 * Requests tokens with a code or a refresh token. Rejects with a `GithubRefusedError` if GitHub refuses,
 * which it does with status 200.
 *
 * @see {@link https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps GitHub, Authorizing OAuth apps}
 */
export async function requestGithubTokens(
  { issuer, clientId, clientSecret = '' }: SignInProvider,
  parameters: Readonly<Record<string, string>>,
  calls: ProviderCalls,
): Promise<GithubTokens> {
  const { status, body } = await requestGithub(calls, `${issuer}/login/oauth/access_token`, {
    operation: 'token',
    headers: { accept: 'application/json' },
    form: new URLSearchParams({
      ...parameters,
      client_id: clientId,
      client_secret: clientSecret,
    }),
  });
  const error = memberIn(body, 'error');
  if (typeof error === 'string') throw new GithubRefusedError(error);
  const accessToken = tokenOf(memberIn(body, 'access_token'));
  const type = textOf(memberIn(body, 'token_type'));
  if (status !== 200 || accessToken === undefined || type?.toLowerCase() !== 'bearer') {
    throw new Error(`the token endpoint returned no token, with HTTP status ${String(status)}`);
  }
  const refreshToken = tokenOf(memberIn(body, 'refresh_token'));
  const expires = memberIn(body, 'expires_in') !== undefined;
  return { accessToken, expires, ...(refreshToken !== undefined && { refreshToken }) };
}

/** A request with any other token fails, with an error that quotes it. */
function tokenOf(value: unknown): string | undefined {
  const token = textOf(value);
  return token !== undefined && /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
