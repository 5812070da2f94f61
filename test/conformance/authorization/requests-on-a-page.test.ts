import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import {
  aRoute,
  LOOPBACK_CALLBACK,
  startAuthorizationServer,
  WEB_CALLBACK,
} from '../../support/authorization-server.ts';
import { authorizationUrl, decide, register } from '../../support/client-flow.ts';
import {
  expectPage,
  type Changes,
  DOCUMENT_URL,
  aDocument,
} from '../../support/authorization-pages.ts';

describe('The authorization endpoint without a redirect URI that it may use', () => {
  async function expectPageFor(changes: Changes): Promise<void> {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    expectPage(await server.send(authorizationUrl(client.id, changes)), 400);
  }

  const NO_CLIENT: readonly (readonly [string, Changes])[] = [
    ['an unknown client', { client_id: 'unknown' }],
    ['no client', { client_id: undefined }],
    ['an empty client', { client_id: '' }],
  ];

  for (const [what, changes] of NO_CLIENT) {
    verifies('as.no-open-redirect', `a request with ${what} is answered with a page`, () =>
      expectPageFor(changes),
    );
  }

  const OTHER_REDIRECT_URIS: readonly (readonly [string, Changes])[] = [
    ['a redirect URI that is not registered', { redirect_uri: 'https://evil.example/' }],
    ['a redirect URI with another path', { redirect_uri: `${LOOPBACK_CALLBACK}/more` }],
    ['a redirect URI with a query added', { redirect_uri: `${LOOPBACK_CALLBACK}?a=b` }],
    ['an invalid loopback port', { redirect_uri: 'http://127.0.0.1:99999/callback' }],
    ['another loopback name', { redirect_uri: 'http://localhost:3000/callback' }],
    ['a redirect URI of JavaScript', { redirect_uri: 'javascript:alert(1)' }],
  ];

  for (const [what, changes] of OTHER_REDIRECT_URIS) {
    verifies(
      ['as.no-open-redirect', 'as.redirect-uri-exact'],
      `a request with ${what} is answered with a page`,
      () => expectPageFor(changes),
    );
  }

  for (const name of ['client_id', 'redirect_uri']) {
    verifies(
      ['as.no-open-redirect', 'as.no-repeated-parameters'],
      `a request with ${name} twice is answered with a page`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server);
        const url = new URL(authorizationUrl(client.id));
        url.searchParams.append(name, url.searchParams.get(name) ?? '');
        expectPage(await server.send(url.href), 400);
      },
    );
  }

  verifies(
    ['as.metadata-document-redirect-uris', 'as.no-open-redirect'],
    'a request with a redirect URI that is not in the client’s document is answered with a page',
    async () => {
      await using server = await startAuthorizationServer({
        documents: { [DOCUMENT_URL]: aDocument() },
      });
      const changes = { redirect_uri: `${WEB_CALLBACK}/more` };
      expectPage(await server.send(authorizationUrl(DOCUMENT_URL, changes)), 400);
    },
  );

  verifies(
    'as.metadata-document-failure',
    'a request of a client without a document at its URL is answered with a page',
    async () => {
      await using server = await startAuthorizationServer();
      const changes = { redirect_uri: WEB_CALLBACK };
      expectPage(await server.send(authorizationUrl(DOCUMENT_URL, changes)), 400);
    },
  );

  verifies(
    'errors.client-id-domain-page',
    'the page for a client ID of a domain that is not allowed contains the client ID and the request id',
    async () => {
      await using server = await startAuthorizationServer();
      const clientId = 'https://elsewhere.example/client.json';
      const reply = await server.send(authorizationUrl(clientId));
      expectPage(reply, 400);
      expect(reply.body).toContain(
        'The administrator restricted the list of MCP client ID document domains',
      );
      expect(reply.body).toContain(clientId);
      expect(reply.body).toContain(String(reply.headers['x-request-id']));
    },
  );

  verifies(
    'as.bound-to-issuer',
    'a request of a client that is registered at another issuer is answered with a page',
    async () => {
      const other = 'https://other.example.com';
      const routes = [aRoute(), aRoute({ host: 'other.example.com' })];
      await using server = await startAuthorizationServer({ routes });
      const client = await register(server, {}, other);
      expectPage(await server.send(authorizationUrl(client.id)), 400);
    },
  );
});

describe('The redirect URI', () => {
  test('an authorization request may omit the redirect URI if the client has one', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const url = authorizationUrl(client.id, { redirect_uri: undefined });
    const redirect = await decide(server, url, await server.signIn());
    expect(redirect.origin + redirect.pathname).toBe(LOOPBACK_CALLBACK);
  });

  test.each([
    ['the client has several', [LOOPBACK_CALLBACK, WEB_CALLBACK]],
    ['the only one leaves its port open', ['http://127.0.0.1/callback']],
  ])('an authorization request must have a redirect URI if %s', async (_what, redirectUris) => {
    await using server = await startAuthorizationServer();
    const client = await register(server, { redirect_uris: redirectUris });
    const url = authorizationUrl(client.id, { redirect_uri: undefined });
    expectPage(await server.send(url), 400);
  });

  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    verifies(
      'as.redirect-uri-exact',
      `a redirect URI on ${host} may have any port, and the response goes to that port`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server, { redirect_uris: [`http://${host}/callback`] });
        const redirectUri = `http://${host}:49152/callback`;
        const url = authorizationUrl(client.id, { redirect_uri: redirectUri });
        const redirect = await decide(server, url, await server.signIn());
        expect(redirect.origin + redirect.pathname).toBe(redirectUri);
      },
    );
  }

  verifies('as.redirect-uri-allowed', 'a redirect URI may have a private-use scheme', async () => {
    await using server = await startAuthorizationServer();
    const redirectUri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const client = await register(server, { redirect_uris: [redirectUri] });
    const url = authorizationUrl(client.id, { redirect_uri: redirectUri });
    const redirect = await decide(server, url, await server.signIn());
    expect(redirect.href.startsWith(`${redirectUri}?code=`)).toBe(true);
  });
});
