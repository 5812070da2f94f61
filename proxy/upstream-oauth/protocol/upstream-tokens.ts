import type { TokenEndpointResponse } from 'oauth4webapi';

import { TokenRequestError } from './token-request-error.ts';

/** What an authorization server of an upstream gave for a code or a refresh token. */
export interface UpstreamTokens {
  /** Can be sent in a header field. */
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** At most a year. Absent if the server does not say when the access token expires. */
  readonly lifetimeSeconds?: number;
  /** Absent if the server gave what was asked for (RFC 6749, section 5.1). */
  readonly scopes?: readonly string[];
}

const DAY_SECONDS = 86_400;

/** Longer lives are not lives, but errors of a unit or words for "never". */
const LONGEST_LIFETIME_SECONDS = 365 * DAY_SECONDS;

/** Above the tokens of large providers, and below what servers accept in a header. */
const MAX_TOKEN_LENGTH = 16_384;

/** Attack: a token with a line break would add fields to the requests of the user. */
const ACCESS_TOKEN = /^[\x21-\x7e]+$/;

/** Reads a token response. Throws a `TokenRequestError` if the gateway cannot use the token. */
export function readTokens(response: TokenEndpointResponse, host: string): UpstreamTokens {
  const { access_token: accessToken, token_type: type, refresh_token: refreshToken } = response;
  // A token of another type is useless without its proof of possession.
  if (type !== 'bearer') throw unusable(`${host} gave a token whose type is not Bearer`);
  if (accessToken.length > MAX_TOKEN_LENGTH || !ACCESS_TOKEN.test(accessToken)) {
    throw unusable(`${host} gave a token that cannot be sent in a header`);
  }
  // Attack: the tokens of many users are in memory at the same time.
  if (refreshToken !== undefined && refreshToken.length > MAX_TOKEN_LENGTH) {
    throw unusable(`${host} gave a refresh token that is too long`);
  }
  const { expires_in: lifetime, scope } = response;
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(lifetime !== undefined && {
      lifetimeSeconds: Math.min(lifetime, LONGEST_LIFETIME_SECONDS),
    }),
    ...(scope !== undefined && { scopes: scopesIn(scope) }),
  };
}

/** Some servers, as GitHub, separate scopes by commas. */
function scopesIn(scope: string): readonly string[] {
  return scope.split(/[ ,]+/).filter((name) => name !== '');
}

function unusable(message: string): TokenRequestError {
  return new TokenRequestError('upstream-token-unusable', message);
}
