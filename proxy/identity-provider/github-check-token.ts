import {
  GITHUB_API_HEADERS,
  memberIn,
  requestGithub,
  type GithubResponse,
} from './github-request.ts';
import type { ProviderCalls } from './provider-calls.ts';
import type { SignInProvider } from './require-identity-provider.ts';

const NOT_FOUND = 404;
/** For what can be no token. */
const UNPROCESSABLE = 422;

/** What GitHub says about an access token of an app. */
export interface GithubTokenCheck {
  /** The number of the user's account. */
  readonly userId: number;
  /** Milliseconds since the epoch; `Infinity` if the token does not expire. */
  readonly expiresAt: number;
}

/**
 * Asks GitHub whether an access token is of the provider's own app. Returns null if it is not, or is not valid:
 * GitHub does not say which. Rejects if GitHub does not tell, or does not accept the secret of the app.
 *
 * @see {@link https://docs.github.com/en/rest/apps/oauth-applications#check-a-token GitHub, Check a token}
 */
export async function checkGithubToken(
  { apiUrl = '', clientId, clientSecret = '' }: SignInProvider,
  token: string,
  calls: ProviderCalls,
): Promise<GithubTokenCheck | null> {
  const url = `${apiUrl}/applications/${encodeURIComponent(clientId)}/token`;
  const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const response = await requestGithub(calls, url, {
    operation: 'introspection',
    headers: { ...GITHUB_API_HEADERS, authorization: `Basic ${credentials}` },
    json: { access_token: token },
  });
  if (response.status === NOT_FOUND || response.status === UNPROCESSABLE) return null;
  return readCheck(response, clientId);
}

function readCheck({ status, body }: GithubResponse, clientId: string): GithubTokenCheck {
  const app = memberIn(memberIn(body, 'app'), 'client_id');
  const userId = memberIn(memberIn(body, 'user'), 'id');
  const expiresAt = timeOf(memberIn(body, 'expires_at'));
  const isAnswer = status === 200 && app === clientId && isAccount(userId);
  if (isAnswer && !Number.isNaN(expiresAt)) return { userId, expiresAt };
  throw new Error(
    `unexpected response to the check of a token, with HTTP status ${String(status)}`,
  );
}

function isAccount(id: unknown): id is number {
  return Number.isSafeInteger(id);
}

function timeOf(text: unknown): number {
  if (text === undefined || text === null) return Infinity;
  return typeof text === 'string' ? Date.parse(text) : NaN;
}
