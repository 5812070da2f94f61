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
  'the host of another issuer does not serve a consent page',
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

/** Header fields of a form that a user submitted. */
const CLICK = {
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-user': '?1',
};

describe('A decision on the consent page', () => {
  verifies(
    ['as.consent', 'as.authorization-errors', 'as.iss'],
    'a denial redirects to the client with access_denied',
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
      ['without a seal', { seal: '' }, {}],
      ['with a made-up seal', { seal: `1.${'x'.repeat(43)}` }, {}],
      ['from another origin', {}, { origin: 'https://evil.example' }],
      ['from an opaque origin', {}, { origin: 'null' }],
      ['of a script', {}, { ...CLICK, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
      ['of a frame', {}, { ...CLICK, 'sec-fetch-dest': 'iframe' }],
      ['without a click', {}, { ...CLICK, 'sec-fetch-user': '?0' }],
      ['of another site', {}, { ...CLICK, 'sec-fetch-site': 'cross-site' }],
    ];

  for (const [what, changes, headers] of FORGERIES) {
    verifies(
      'as.consent-page-protected',
      `the consent page refuses a decision ${what} with 403`,
      async () => {
        await using server = await startAuthorizationServer();
        const cookie = await server.signIn();
        const page = await consentPage(server, (await register(server)).id, {}, cookie);
        const form = { ...consentForm(page, 'approve'), ...changes };
        const reply = await server.send(CONSENT_URL, { headers: { cookie, ...headers }, form });
        expectPage(reply, 403);
      },
    );
  }

  verifies(
    'as.consent-page-protected',
    'the consent page refuses a seal with an earlier time, which would hide a double click',
    async () => {
      await using server = await startAuthorizationServer();
      const cookie = await server.signIn();
      const page = await consentPage(server, (await register(server)).id, {}, cookie);
      const form = consentForm(page, 'approve');
      const seal = form['seal']?.replace(/^\d+/, (time) => String(Number(time) - 1000)) ?? '';
      expectPage(
        await server.send(CONSENT_URL, { headers: { cookie }, form: { ...form, seal } }),
        403,
      );
      expect(await server.send(CONSENT_URL, { headers: { cookie, ...CLICK }, form })).toMatchObject(
        {
          status: 303,
        },
      );
    },
  );

  verifies(
    'as.consent-page-protected',
    'the consent page shows itself again after an approval within a second, and uses up nothing',
    async () => {
      await using server = await startAuthorizationServer();
      const cookie = await server.signIn();
      const page = await consentPage(server, (await register(server)).id, {}, cookie);
      server.clock.now -= 1;
      const headers = { cookie };
      const again = await server.send(CONSENT_URL, { headers, form: consentForm(page, 'approve') });
      expectPage(again, 200);
      expect(again.body).toContain('within a second');
      server.clock.now += 1000;
      const form = consentForm(again, 'approve');
      expect(await server.send(CONSENT_URL, { headers, form })).toMatchObject({ status: 303 });
    },
  );

  verifies(
    'as.consent-page-protected',
    'the consent page refuses the seal of another browser or another request',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const cookie = await server.signIn();
      const own = consentForm(await consentPage(server, client.id, {}, cookie), 'approve');
      const foreign = consentForm(await consentPage(server, client.id), 'approve');
      const other = consentForm(await consentPage(server, client.id, {}, cookie), 'approve');
      for (const { seal = '' } of [foreign, other]) {
        const form = { ...own, seal };
        expectPage(await server.send(CONSENT_URL, { headers: { cookie }, form }), 403);
      }
    },
  );

  verifies(
    'as.consent-page-protected',
    'the consent page sends a decision without a session to sign in',
    async () => {
      await using server = await startAuthorizationServer();
      const page = await consentPage(server, (await register(server)).id);
      const reply = await server.send(CONSENT_URL, { form: consentForm(page, 'approve') });
      expect(reply.headers.location).toContain(SIGN_IN_URL);
    },
  );

  verifies(
    'as.consent-page-protected',
    'the consent page does not accept a decision by GET',
    async () => {
      await using server = await startAuthorizationServer();
      const cookie = await server.signIn();
      const page = await consentPage(server, (await register(server)).id, {}, cookie);
      const query = new URLSearchParams(consentForm(page, 'approve')).toString();
      const reply = await server.send(`${CONSENT_URL}?${query}`, { headers: { cookie } });
      expectPage(reply, 200);
    },
  );

  verifies(
    'as.redirect-with-get',
    'the consent page refuses an unknown decision, and still accepts a valid one after it',
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
    'the consent page accepts a decision once, even if it is posted twenty times',
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

  test('an approval of a website is remembered for the same request', async () => {
    await using server = await startAuthorizationServer({ documents });
    const cookie = await server.signIn();
    await decide(server, authorizationUrl(DOCUMENT_URL, request), cookie);
    const reply = await consentPage(server, DOCUMENT_URL, request, cookie);
    expect(reply.status).toBe(303);
    expect(reply.headers.location).toMatch(/^https:\/\/client\.example\/callback\?code=/);
  });

  const CHANGES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['the client asks for the page', { prompt: 'consent' }],
    ['the scope has changed', { scope: 'write' }],
    ['the resource has changed', { resource: `${ISSUER}/other` }],
  ];

  for (const [what, changes] of CHANGES) {
    verifies('as.consent', `the consent page asks again when ${what}`, async () => {
      const routes = [aRoute(), aRoute({ path: { kind: 'prefix', value: '/other' } })];
      await using server = await startAuthorizationServer({ documents, routes });
      const cookie = await server.signIn();
      await decide(server, authorizationUrl(DOCUMENT_URL, request), cookie);
      expectPage(await consentPage(server, DOCUMENT_URL, { ...request, ...changes }, cookie), 200);
    });
  }

  verifies(
    'as.consent',
    'the consent page asks again when a provider of the same name has another issuer',
    async () => {
      await using server = await startAuthorizationServer({ documents });
      await decide(server, authorizationUrl(DOCUMENT_URL, request), await server.signIn());
      const { identity } = aSession(server.clock.now);
      const identityIssuer = 'https://other-issuer.example';
      const { stores } = server;
      await using later = await startAuthorizationServer({ documents, stores, identityIssuer });
      const cookie = await later.signIn(ISSUER, {
        identity: { ...identity, issuer: identityIssuer },
      });
      expectPage(await consentPage(later, DOCUMENT_URL, request, cookie), 200);
    },
  );

  verifies(
    'as.consent',
    'the consent page asks again when another user gave the approval',
    async () => {
      await using server = await startAuthorizationServer({ documents });
      await decide(server, authorizationUrl(DOCUMENT_URL, request), await server.signIn());
      const { identity } = aSession(0);
      const cookie = await server.signIn(ISSUER, { identity: { ...identity, subject: 'bob' } });
      expectPage(await consentPage(server, DOCUMENT_URL, request, cookie), 200);
    },
  );

  verifies(
    'as.consent',
    'the consent page asks again when the name of the client has changed',
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
      `the consent page asks every time for ${redirectUri}, where any program may listen`,
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

  verifies('as.consent', 'a denial is not remembered', async () => {
    await using server = await startAuthorizationServer({ documents });
    const cookie = await server.signIn();
    await decide(server, authorizationUrl(DOCUMENT_URL, request), cookie, 'deny');
    expectPage(await consentPage(server, DOCUMENT_URL, request, cookie), 200);
  });
});
