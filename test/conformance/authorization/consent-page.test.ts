import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import {
  aRoute,
  aWebRoute,
  ISSUER,
  LOOPBACK_CALLBACK,
  RESOURCE,
  SIGN_IN_URL,
  startAuthorizationServer,
  WEB_CALLBACK,
} from '../../support/authorization-server.ts';
import { authorizationUrl, decide, redeem, register } from '../../support/client-flow.ts';
import { anOrigin } from '../../support/an-origin.ts';
import {
  expectPage,
  DOCUMENT_URL,
  aDocument,
  CONSENT_URL,
  consentPage,
  MINUTE,
} from '../../support/authorization-pages.ts';

describe('The consent page', () => {
  const onward = 'https: http://localhost:* http://127.0.0.1:*';

  verifies(
    'as.consent',
    'the consent page shows the client, the resource, the scopes and the redirect URI',
    async () => {
      await using server = await startAuthorizationServer({
        documents: { [DOCUMENT_URL]: aDocument() },
      });
      const page = await consentPage(server, DOCUMENT_URL, {
        redirect_uri: WEB_CALLBACK,
        scope: 'read write',
      });
      expectPage(page, 200);
      for (const fact of [
        'Documented client',
        'app.clients.example',
        '<strong>client.example</strong>',
        `<dd>${WEB_CALLBACK}</dd>`,
        RESOURCE,
        'alice@example.com',
        'read, write',
      ]) {
        expect(page.body).toContain(fact);
      }
    },
  );

  const WARNINGS: readonly (readonly [string, string, string | undefined])[] = [
    ['a website', WEB_CALLBACK, undefined],
    ['a program on this computer', LOOPBACK_CALLBACK, 'A program on this computer'],
    ['an application', 'cursor://mcp/callback', '<code>cursor:</code> links'],
  ];

  for (const [what, redirectUri, warning] of WARNINGS) {
    verifies(
      'as.consent',
      `the consent page for ${what} has the warning for that kind of redirect URI`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server, { redirect_uris: [redirectUri] });
        const page = await consentPage(server, client.id, { redirect_uri: redirectUri });
        expect(page.body.includes('class="warning"')).toBe(warning !== undefined);
        expect(page.body).toContain(warning ?? '');
      },
    );
  }

  test.each([
    [WEB_CALLBACK, `'self' https://client.example ${onward}`],
    [LOOPBACK_CALLBACK, `'self' http://127.0.0.1:3000 ${onward}`],
    // A host source cannot name an IPv6 address.
    ['http://[::1]:3000/callback', `'self' http: ${onward}`],
    ['cursor://mcp/callback', "'self' cursor:"],
  ])('the consent page allows its form to redirect to %s', async (redirectUri, formAction) => {
    await using server = await startAuthorizationServer();
    const client = await register(server, { redirect_uris: [redirectUri] });
    const page = await consentPage(server, client.id, { redirect_uri: redirectUri });
    const policy = String(page.headers['content-security-policy']);
    expect(policy.split('; ')).toContain(`form-action ${formAction}`);
  });

  verifies(
    'as.client-text-untrusted',
    'the consent page escapes the name of the client',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server, { client_name: '<script>alert(1)</script>' });
      const page = await consentPage(server, client.id);
      expect(page.body).toContain('&lt;script&gt;');
      expect(page.body).not.toContain('<script');
    },
  );

  verifies(
    'as.consent-page-protected',
    'the consent page forbids frames, scripts and caches, and sends its origin',
    async () => {
      await using server = await startAuthorizationServer();
      const page = await consentPage(server, (await register(server)).id);
      expect(page.headers).toMatchObject({
        'x-frame-options': 'DENY',
        'cache-control': 'no-store',
        'referrer-policy': 'same-origin',
      });
      expect(page.headers['content-security-policy']).toMatch(
        /default-src 'none';.*frame-ancestors 'none'/,
      );
    },
  );

  test('the consent page is apart from other windows on hosts with web routes only', async () => {
    const web = aWebRoute({ path: { kind: 'prefix', value: '/app' } });
    for (const [routes, policy] of [
      [[aRoute(), web], 'same-origin'],
      [[aRoute()], undefined],
    ] as const) {
      await using server = await startAuthorizationServer({ routes });
      const page = await consentPage(server, (await register(server)).id);
      expectPage(page, 200);
      expect(page.headers['cross-origin-opener-policy']).toBe(policy);
    }
  });

  test('the consent page sends a browser without a session to sign in, and back', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const { headers } = await server.send(authorizationUrl(client.id));
    const consentUrl = headers.location ?? '';
    for (const cookie of ['', '__Host-gatehouse=forged', `__Host-gatehouse=${'x'.repeat(43)}`]) {
      const reply = await server.send(consentUrl, { headers: { cookie } });
      expect(reply.status).toBe(303);
      const signIn = new URL(reply.headers.location ?? '');
      expect(signIn.origin + signIn.pathname).toBe(SIGN_IN_URL);
      expect(signIn.searchParams.get('to')).toBe(consentUrl);
    }
  });

  test('the consent page refuses the session cookie of another host', async () => {
    const routes = [aRoute(), aRoute({ host: 'other.example.com' })];
    await using server = await startAuthorizationServer({ routes });
    const cookie = await server.signIn('https://other.example.com');
    const client = await register(server);
    const { headers } = await server.send(authorizationUrl(client.id));
    const reply = await server.send(headers.location ?? '', { headers: { cookie } });
    expect(reply.headers.location).toContain(SIGN_IN_URL);
  });

  verifies(
    'as.consent-page-protected',
    'the consent page answers an unknown request with 400',
    async () => {
      await using server = await startAuthorizationServer();
      const cookie = await server.signIn();
      for (const query of ['', '?request=', '?request=unknown']) {
        expectPage(await server.send(CONSENT_URL + query, { headers: { cookie } }), 400);
      }
    },
  );

  verifies(
    'as.consent-request-once',
    'the consent page answers a request that is ten minutes old with 400',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const cookie = await server.signIn();
      const { headers } = await server.send(authorizationUrl(client.id));
      server.clock.now += 10 * MINUTE;
      expectPage(await server.send(headers.location ?? '', { headers: { cookie } }), 400);
    },
  );

  verifies(
    'as.metadata-document-redirect-uris',
    'the consent page answers 400 if the client has removed the redirect URI in the meantime',
    async () => {
      await using server = await startAuthorizationServer({
        documents: { [DOCUMENT_URL]: aDocument() },
      });
      const cookie = await server.signIn();
      const url = authorizationUrl(DOCUMENT_URL, { redirect_uri: WEB_CALLBACK });
      const { headers } = await server.send(url);
      server.publish({ [DOCUMENT_URL]: aDocument({ redirect_uris: [`${WEB_CALLBACK}2`] }) });
      server.clock.now += 6 * MINUTE;
      expectPage(await server.send(headers.location ?? '', { headers: { cookie } }), 400);
    },
  );
});

describe('The consent page of a gateway with an authenticate host', () => {
  const authenticateOrigin = anOrigin('https://sign-in.example.com');

  test('the authenticate host serves the consent page', async () => {
    await using server = await startAuthorizationServer({ settings: { authenticateOrigin } });
    const client = await register(server);
    const cookie = await server.signIn(authenticateOrigin);
    const { headers } = await server.send(authorizationUrl(client.id));
    expect(headers.location).toMatch(/^https:\/\/sign-in\.example\.com\/\.gateway\/mcp\/consent\?/);
    const redirect = await decide(server, authorizationUrl(client.id), cookie);
    expect(redirect.searchParams.get('iss')).toBe(ISSUER);
    const reply = await redeem(server, redirect.searchParams.get('code') ?? '', client);
    expect(reply.status).toBe(200);
  });

  verifies(
    'as.consent-page-protected',
    'a route host, where scripts of an upstream run, does not serve the consent page',
    async () => {
      await using server = await startAuthorizationServer({ settings: { authenticateOrigin } });
      const client = await register(server);
      const cookie = await server.signIn();
      const { headers } = await server.send(authorizationUrl(client.id));
      const elsewhere = (headers.location ?? '').replace(authenticateOrigin, ISSUER);
      expectPage(await server.send(elsewhere, { headers: { cookie } }), 404);
    },
  );
});
