import { createHash, randomBytes } from 'node:crypto';

import type { GithubState, Issued } from './github-state.ts';

type TokenAnswer = Readonly<Record<string, string | number>>;

/** Answers at `/login/oauth/access_token`: errors have status 200, as everything there. */
export function tokenAnswer(parameters: URLSearchParams, github: GithubState): TokenAnswer {
  const isClient =
    parameters.get('client_id') === github.clientId &&
    parameters.get('client_secret') === github.clientSecret;
  if (!isClient) return { error: 'incorrect_client_credentials' };
  return parameters.get('grant_type') === 'refresh_token'
    ? refresh(parameters.get('refresh_token') ?? '', github)
    : redeem(parameters, github);
}

/** Ends the refresh token and its access token. */
function refresh(token: string, github: GithubState): TokenAnswer {
  const known = github.refreshTokens.get(token);
  github.refreshTokens.delete(token);
  if (known === undefined) return { error: 'bad_refresh_token' };
  github.accessTokens.delete(known.accessToken);
  return issue(known, github);
}

/** A code works once. */
function redeem(parameters: URLSearchParams, github: GithubState): TokenAnswer {
  const code = parameters.get('code') ?? '';
  const known = github.codes.get(code);
  github.codes.delete(code);
  const verifier = parameters.get('code_verifier') ?? '';
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  if (known?.challenge !== challenge) return { error: 'bad_verification_code' };
  const isSameUri = parameters.get('redirect_uri') === known.redirectUri;
  return isSameUri ? issue(known, github) : { error: 'redirect_uri_mismatch' };
}

function issue({ login, scopes }: Issued, github: GithubState): TokenAnswer {
  if (github.kind === 'oauth-app') {
    const accessToken = github.newAccessToken();
    github.accessTokens.set(accessToken, { login, scopes });
    return { access_token: accessToken, scope: scopes.join(','), token_type: 'bearer' };
  }
  const accessToken = `ghu_${randomBytes(18).toString('hex')}`;
  // GitHub Apps have permissions instead of scopes; this one may read addresses.
  github.accessTokens.set(accessToken, { login, scopes: ['user:email'] });
  const refreshToken = `ghr_${randomBytes(38).toString('hex')}`;
  github.refreshTokens.set(refreshToken, { login, scopes, accessToken });
  return {
    ...{ access_token: accessToken, expires_in: 28_800 },
    ...{ refresh_token: refreshToken, refresh_token_expires_in: 15_811_200 },
    ...{ scope: '', token_type: 'bearer' },
  };
}
