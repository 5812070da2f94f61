import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import {
  aRoute,
  aSession,
  ISSUER,
  LOOPBACK_CALLBACK,
  SIGN_IN_URL,
  startAuthorizationServer,
  WEB_CALLBACK,
} from '../../support/authorization-server.ts';
import { authorizationUrl, consentForm, decide, register } from '../../support/client-flow.ts';
import {
  expectPage,
  DOCUMENT_URL,
  aDocument,
  CONSENT_URL,
  consentPage,
  MINUTE,
} from '../../support/authorization-pages.ts';

verifies(
  ['as.consent-page-protected', 'as.bound-to-issuer'],
  'A consent page is not served on the host of another issuer',
  async () => {
    const other = 'https://other.example.com';
    const routes = [aRoute(), aRoute({ host: 'other.example.com' })];
    await using server = await startAuthorizationServer({ routes });
    const client = await register(server);
    const cookie = await server.signIn(other);
    const { headers } = await server.send(authorizationUrl(client.id));
    const elsewhere = (headers.location ?? '').replace(ISSUER, other);
    expectPage(await server.send(elsewhere, { headers: { cookie } }), 404);
  },
);

describe('The decision', () => {
  verifies(
    ['as.consent', 'as.authorization-errors', 'as.iss'],
    'to deny tells the client access_denied',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server, { redirect_uris: [WEB_CALLBACK] });
      const url = authorizationUrl(client.id, { redirect_uri: WEB_CALLBACK });
      const redirect = await decide(server, url, await server.signIn(), 'deny');
      expect(Object.fromEntries(redirect.searchParams)).toEqual({
        error: 'access_denied',
        error_description: expect.any(String),
        state: 'the-state',
        iss: ISSUER,
      });
    },
  );

  const FORGERIES: readonly (readonly [string, Record<string, string>, Record<string, string>])[] =
    [
      ['without a CSRF token', { csrf: '' }, {}],
      ['with a made-up CSRF token', { csrf: 'x'.repeat(43) }, {}],
      ['from another origin', {}, { origin: 'https://evil.example' }],
      ['from an opaque origin', {}, { origin: 'null' }],
    ];

  for (const [what, changes, headers] of FORGERIES) {
    verifies('as.consent-page-protected', `is not taken ${what}`, async () => {
      await using server = await startAuthorizationServer();
      const cookie = await server.signIn();
      const page = await consentPage(server, (await register(server)).id, {}, cookie);
      const form = { ...consentForm(page, 'approve'), ...changes };
      const reply = await server.send(CONSENT_URL, { headers: { cookie, ...headers }, form });
      expectPage(reply, 403);
    });
  }

  verifies(
    'as.consent-page-protected',
    'is not taken with the CSRF token of another browser or another request',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const cookie = await server.signIn();
      const own = consentForm(await consentPage(server, client.id, {}, cookie), 'approve');
      const foreign = consentForm(await consentPage(server, client.id), 'approve');
      const other = consentForm(await consentPage(server, client.id, {}, cookie), 'approve');
      for (const { csrf = '' } of [foreign, other]) {
        const form = { ...own, csrf };
        expectPage(await server.send(CONSENT_URL, { headers: { cookie }, form }), 403);
      }
    },
  );

  verifies('as.consent-page-protected', 'is not taken without a session', async () => {
    await using server = await startAuthorizationServer();
    const page = await consentPage(server, (await register(server)).id);
    const reply = await server.send(CONSENT_URL, { form: consentForm(page, 'approve') });
    expect(reply.headers.location).toContain(SIGN_IN_URL);
  });

  verifies('as.consent-page-protected', 'is not taken by GET', async () => {
    await using server = await startAuthorizationServer();
    const cookie = await server.signIn();
    const page = await consentPage(server, (await register(server)).id, {}, cookie);
    const query = new URLSearchParams(consentForm(page, 'approve')).toString();
    const reply = await server.send(`${CONSENT_URL}?${query}`, { headers: { cookie } });
    expectPage(reply, 200);
  });

  verifies(
    'as.redirect-with-get',
    'must be one of the two, and a wrong one uses nothing up',
    async () => {
      await using server = await startAuthorizationServer();
      const cookie = await server.signIn();
      const page = await consentPage(server, (await register(server)).id, {}, cookie);
      const form = consentForm(page, 'approve');
      const wrong = { ...form, decision: 'perhaps' };
      expectPage(await server.send(CONSENT_URL, { headers: { cookie }, form: wrong }), 400);
      expect(await server.send(CONSENT_URL, { headers: { cookie }, form })).toMatchObject({
        status: 303,
      });
    },
  );

  verifies(
    'as.consent-request-once',
    'counts once, however often the button is pressed',
    async () => {
      await using server = await startAuthorizationServer();
      const cookie = await server.signIn();
      const page = await consentPage(server, (await register(server)).id, {}, cookie);
      const form = consentForm(page, 'approve');
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => server.send(CONSENT_URL, { headers: { cookie }, form })),
      );
      expect(replies.filter(({ status }) => status === 303)).toHaveLength(1);
      expect(replies.filter(({ status }) => status === 400)).toHaveLength(19);
    },
  );
});

describe('An approval', () => {
  const documents = { [DOCUMENT_URL]: aDocument() };
  const request = { redirect_uri: WEB_CALLBACK };

  test('of a website is remembered for the same request', async () => {
    await using server = await startAuthorizationServer({ documents });
    const cookie = await server.signIn();
    await decide(server, authorizationUrl(DOCUMENT_URL, request), cookie);
    const reply = await consentPage(server, DOCUMENT_URL, request, cookie);
    expect(reply.status).toBe(303);
    expect(reply.headers.location).toMatch(/^https:\/\/client\.example\/callback\?code=/);
  });

  const CHANGES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['the client asks for the page', { prompt: 'consent' }],
    ['the scope is another', { scope: 'write' }],
    ['the resource is another', { resource: `${ISSUER}/other` }],
  ];

  for (const [what, changes] of CHANGES) {
    verifies('as.consent', `is asked for again when ${what}`, async () => {
      const routes = [aRoute(), aRoute({ path: { kind: 'prefix', value: '/other' } })];
      await using server = await startAuthorizationServer({ documents, routes });
      const cookie = await server.signIn();
      await decide(server, authorizationUrl(DOCUMENT_URL, request), cookie);
      expectPage(await consentPage(server, DOCUMENT_URL, { ...request, ...changes }, cookie), 200);
    });
  }

  verifies('as.consent', 'is asked for again when it was another user who gave it', async () => {
    await using server = await startAuthorizationServer({ documents });
    await decide(server, authorizationUrl(DOCUMENT_URL, request), await server.signIn());
    const { identity } = aSession(0);
    const cookie = await server.signIn(ISSUER, { identity: { ...identity, subject: 'bob' } });
    expectPage(await consentPage(server, DOCUMENT_URL, request, cookie), 200);
  });

  verifies(
    'as.consent',
    'is asked for again when the client calls itself something else',
    async () => {
      await using server = await startAuthorizationServer({ documents });
      const cookie = await server.signIn();
      await decide(server, authorizationUrl(DOCUMENT_URL, request), cookie);
      server.publish({ [DOCUMENT_URL]: aDocument({ client_name: 'Your bank' }) });
      server.clock.now += 6 * MINUTE;
      expectPage(await consentPage(server, DOCUMENT_URL, request, cookie), 200);
    },
  );

  for (const redirectUri of [LOOPBACK_CALLBACK, 'cursor://mcp/callback']) {
    verifies(
      'as.consent',
      `is asked for each time when the answer goes to ${redirectUri}, where anybody may listen`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server, { redirect_uris: [redirectUri] });
        const cookie = await server.signIn();
        const changes = { redirect_uri: redirectUri };
        await decide(server, authorizationUrl(client.id, changes), cookie);
        expectPage(await consentPage(server, client.id, changes, cookie), 200);
      },
    );
  }

  verifies('as.consent', 'that was refused is not remembered', async () => {
    await using server = await startAuthorizationServer({ documents });
    const cookie = await server.signIn();
    await decide(server, authorizationUrl(DOCUMENT_URL, request), cookie, 'deny');
    expectPage(await consentPage(server, DOCUMENT_URL, request, cookie), 200);
  });
});
