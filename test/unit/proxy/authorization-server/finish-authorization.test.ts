import { expect, test } from '@jest/globals';

import { createFinishAuthorization } from '../../../../proxy/authorization-server/finish-authorization.ts';
import type { EndpointContext } from '../../../../proxy/endpoints/endpoint.ts';
import { UnknownClientError } from '../../../../proxy/errors/authorization-page-errors.ts';
import type { Client } from '../../../../proxy/records/client.ts';
import type { PendingAuthorization } from '../../../../proxy/records/pending-authorization.ts';
import type { Session } from '../../../../proxy/records/session.ts';
import { originOf } from '../../../../shared/snapshot/origin.ts';

const CALLBACK = 'https://client.example.com/callback';

const PENDING: PendingAuthorization = {
  issuer: originOf({ scheme: 'https', host: 'mcp.example.com', port: 443 }),
  clientId: 'https://client.example.com/metadata.json',
  redirectUri: CALLBACK,
  resource: 'https://mcp.example.com/',
  scopes: [],
  codeChallenge: 'a-code-challenge',
  state: 'a-state',
  askAgain: false,
  approvedGrantId: 'grant-1',
};

const SESSION: Session = {
  ...{ id: 'session-1', signInId: 'sign-in-1', createdAt: 0, expiresAt: Infinity },
  identity: { provider: 'idp', issuer: 'https://idp.test', subject: 'a', groups: [], claims: {} },
};

/** Finishes the request of a client that has these redirect URIs now; null if it is gone. */
async function finish(
  redirectUris: readonly string[] | null,
  kind: 'connected' | 'failed',
): Promise<string> {
  const codes: string[] = [];
  const finishAuthorization = createFinishAuthorization({
    // Only these parts of it are read.
    findClient: () => Promise.resolve(redirectUris && ({ metadata: { redirectUris } } as Client)),
    stores: {
      authorizationCodes: {
        save: (code: string) => Promise.resolve(void codes.push(code)),
      } as never,
    },
    audit: { write: () => undefined } as never,
  });
  const result =
    kind === 'connected' ? { kind } : ({ kind, connectError: 'access_denied' } as const);
  const context = { request: {}, configuration: { settings: {} } } as EndpointContext;
  try {
    const { headers } = await finishAuthorization(PENDING, result, SESSION, context);
    return String(headers.location);
  } catch (error) {
    expect(codes).toEqual([]);
    throw error;
  }
}

test('A client whose user has connected gets its code, and else its error', async () => {
  expect(await finish([CALLBACK], 'connected')).toContain(`${CALLBACK}?code=`);
  expect(await finish([CALLBACK], 'failed')).toContain(`${CALLBACK}?error=access_denied`);
});

test.each([
  ['gave up the redirect URI', ['https://client.example.com/other']],
  ['was forgotten', null],
])('A client that %s while its user connected gets neither', async (_what, redirectUris) => {
  for (const kind of ['connected', 'failed'] as const) {
    await expect(finish(redirectUris, kind)).rejects.toThrow(UnknownClientError);
  }
});
