import { expect } from '@jest/globals';

import { membersOf, type Answer } from './http-client.ts';
import { postForm, type SignedInClient } from './signed-in-client.ts';

/** The newest tokens of a client. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

type Client = Pick<SignedInClient, 'server' | 'clientId'>;

/** Uses a refresh token (RFC 6749, section 6). */
export function refresh({ server, clientId }: Client, refreshToken: string): Promise<Answer> {
  return postForm(server.tokenEndpoint, {
    ...{ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken },
  });
}

/** Revokes a token of either kind (RFC 7009, section 2.1). */
export function revoke({ server, clientId }: Client, token: string): Promise<Answer> {
  return postForm(server.revocationEndpoint, { client_id: clientId, token });
}

/** Returns the tokens of a response that must have some (RFC 6749, section 5.1). */
export function tokensOf(answer: Answer): Tokens {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
  const { access_token: accessToken, refresh_token: refreshToken } = membersOf(answer);
  return { accessToken: String(accessToken), refreshToken: String(refreshToken) };
}

/** Fails unless a token request was refused because of its code or its refresh token. */
export function expectInvalidGrant(answer: Answer): void {
  expect({ status: answer.status, ...membersOf(answer) }).toMatchObject({
    ...{ status: 400, error: 'invalid_grant' },
  });
}
