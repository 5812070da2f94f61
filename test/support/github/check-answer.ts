import type { GithubState, Issued } from './github-state.ts';
import type { ApiAnswer } from './api-answer.ts';

/** The lifetime of the tokens of GitHub Apps. */
const EIGHT_HOURS = 28_800_000;

/** The check of a token by an app. */
export interface TokenCheckRequest {
  readonly authorization: string | undefined;
  /** In the path. */
  readonly clientId: string;
  readonly body: string;
}

/**
 * Answers the check of a token: only an app may ask, with its secret, and only its own tokens are found.
 *
 * @see {@link https://docs.github.com/en/rest/apps/oauth-applications#check-a-token}
 */
export function checkAnswer(
  { authorization, clientId, body }: TokenCheckRequest,
  github: GithubState,
): ApiAnswer {
  const credentials = Buffer.from(`${github.clientId}:${github.clientSecret}`).toString('base64');
  if (authorization !== `Basic ${credentials}` || clientId !== github.clientId) {
    return { status: 401, body: { message: 'Bad credentials' } };
  }
  const { access_token: token } = JSON.parse(body) as { readonly access_token?: unknown };
  if (typeof token !== 'string') return { status: 422, body: { message: 'Validation Failed' } };
  const issued = github.accessTokens.get(token);
  if (issued === undefined) return { status: 404, body: { message: 'Not Found' } };
  return { status: 200, body: authorizationOf(token, issued, github) };
}

function authorizationOf(token: string, { login, scopes }: Issued, github: GithubState): object {
  const { id } = github.accounts.get(login) ?? {};
  const expiry = new Date(Date.now() + EIGHT_HOURS).toISOString();
  return {
    ...{ id: 1, scopes, token, expires_at: github.kind === 'github-app' ? expiry : null },
    ...{ app: { client_id: github.clientId, name: 'gateway' }, user: { id, login } },
  };
}
