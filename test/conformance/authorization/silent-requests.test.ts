import { describe, expect, test } from '@jest/globals';

import {
  aDocument,
  consentPage,
  DOCUMENT_URL,
  errorOf,
  expectPage,
} from '../../support/authorization-pages.ts';
import {
  ISSUER,
  startAuthorizationServer,
  WEB_CALLBACK,
  type Reply,
} from '../../support/authorization-server.ts';
import { authorizationUrl, decide, register } from '../../support/client-flow.ts';
import { verifies } from '../../requirements/verifies.ts';

const documents = { [DOCUMENT_URL]: aDocument() };
const request = { redirect_uri: WEB_CALLBACK };
const silent = { ...request, prompt: 'none' };

function answerOf({ status, headers }: Reply): Readonly<Record<string, unknown>> {
  const { origin, pathname, searchParams } = new URL(headers.location ?? '');
  return { status, target: origin + pathname, ...Object.fromEntries(searchParams) };
}

describe('An authorization request with prompt=none', () => {
  const refused = { status: 303, target: WEB_CALLBACK, iss: ISSUER };

  verifies('as.prompt-none', 'gets login_required if no user is signed in', async () => {
    await using server = await startAuthorizationServer({ documents });
    const reply = await consentPage(server, DOCUMENT_URL, silent, 'none=1');
    expect(answerOf(reply)).toMatchObject({ ...refused, error: 'login_required' });
    expect(answerOf(reply)).not.toHaveProperty('code');
  });

  verifies('as.prompt-none', 'gets consent_required if the user has to decide', async () => {
    await using server = await startAuthorizationServer({ documents });
    const reply = await consentPage(server, DOCUMENT_URL, silent);
    expect(answerOf(reply)).toMatchObject({ ...refused, error: 'consent_required' });
  });

  verifies('as.prompt-none', 'gets a code if the user approved the client before', async () => {
    await using server = await startAuthorizationServer({ documents });
    const cookie = await server.signIn();
    await decide(server, authorizationUrl(DOCUMENT_URL, request), cookie);
    const reply = await consentPage(server, DOCUMENT_URL, silent, cookie);
    expect(answerOf(reply)).toMatchObject({ ...refused, code: expect.any(String) });
  });

  test('is no open redirector to the website of a client that registered itself', async () => {
    await using server = await startAuthorizationServer({ documents });
    const client = await register(server, { redirect_uris: [WEB_CALLBACK] });
    expectPage(await consentPage(server, client.id, silent, 'none=1'), 400);
  });

  test.each(['none login', 'consent none', 'none none'])(
    'is refused if the prompt is "%s"',
    async (prompt) => {
      await using server = await startAuthorizationServer({ documents });
      const url = authorizationUrl(DOCUMENT_URL, { ...request, prompt });
      expect(await errorOf(server, url)).toMatchObject({ error: 'invalid_request' });
    },
  );
});
