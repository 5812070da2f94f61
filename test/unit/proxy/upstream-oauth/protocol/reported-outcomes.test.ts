import { describe, expect, test } from '@jest/globals';

import { refreshTokens } from '../../../../../proxy/upstream-oauth/protocol/token-requests.ts';
import type { UpstreamClient } from '../../../../../proxy/upstream-oauth/registration/upstream-client.ts';
import type { UpstreamAuthOutcome } from '../../../../../proxy/upstream-oauth/upstream-auth-reports.ts';
import {
  jsonResponse,
  serverAnswering,
} from '../../../../support/upstream-oauth/answering-server.ts';

/** Sends a refresh request, and returns what it reports about the upstream. */
async function reportedBy(
  answer: Response,
  source: UpstreamClient['source'] = 'given',
): Promise<readonly UpstreamAuthOutcome[]> {
  const client = { id: 'gatehouse', authMethod: 'none', source } as const;
  const { server, outcomes } = serverAnswering(() => answer, { client });
  await Promise.allSettled([refreshTokens(server, 'refresh-1', undefined)]);
  return outcomes;
}

function refusal(error: string, status = 400): Response {
  return jsonResponse({ error, error_description: 'private words' }, status);
}

describe('a token request reports', () => {
  test('that users can connect, if it yields a token', async () => {
    const tokens = jsonResponse({ access_token: 'access', token_type: 'Bearer' });

    expect(await reportedBy(tokens)).toEqual([{ kind: 'success' }]);
  });

  test.each(['invalid_client', 'unauthorized_client'])(
    'that users cannot connect, if the server refuses the client with %s',
    async (error) => {
      expect(await reportedBy(refusal(error, 401))).toEqual([
        {
          kind: 'failure',
          reason: 'upstream-auth-client-refused',
          message: `the token endpoint of as.example.com does not accept the client of the gateway: ${error}`,
        },
      ]);
    },
  );

  test('nothing about a registration that the server forgot, since it is made again', async () => {
    expect(await reportedBy(refusal('invalid_client', 401), 'registered')).toEqual([]);
  });

  test.each(['invalid_grant', 'access_denied', 'temporarily_unavailable'])(
    'nothing if one user is refused, or the server is busy: %s',
    async (error) => {
      expect(await reportedBy(refusal(error))).toEqual([]);
    },
  );

  test('nothing about a response that is not one of a token endpoint', async () => {
    expect(await reportedBy(new Response('<html>', { status: 500 }))).toEqual([]);
  });
});
