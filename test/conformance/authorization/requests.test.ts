import { describe, expect, test } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import {
  aRoute,
  aWebRoute,
  ISSUER,
  LOOPBACK_CALLBACK,
  RESOURCE,
  startAuthorizationServer,
  WEB_CALLBACK,
  type TestServer,
} from '../../support/authorization-server.ts';
import {
  AUTHORIZE_URL,
  authorizationUrl,
  callResource,
  decide,
  obtainCode,
  redeem,
  register,
  tokensOf,
} from '../../support/client-flow.ts';
import { errorOf, CONSENT_URL } from '../../support/authorization-pages.ts';

describe('The authorization endpoint', () => {
  verifies(
    ['as.code-grant', 'as.iss', 'as.authorization-response'],
    'the authorization endpoint leads to the consent page, and from there back with code, state and iss',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const redirect = await decide(server, authorizationUrl(client.id), await server.signIn());
      expect(redirect.origin + redirect.pathname).toBe(LOOPBACK_CALLBACK);
      expect(Object.fromEntries(redirect.searchParams)).toEqual({
        code: expect.stringMatching(/^[\w-]{43}$/),
        state: 'the-state',
        iss: ISSUER,
      });
    },
  );

  verifies('as.redirect-with-get', 'the authorization endpoint accepts a posted form', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const { searchParams } = new URL(authorizationUrl(client.id));
    const reply = await server.send(AUTHORIZE_URL, { form: searchParams });
    expect(reply.status).toBe(303);
    expect(reply.headers.location).toMatch(new RegExp(`^${CONSENT_URL}\\?request=[\\w-]+$`));
  });

  verifies(
    'as.authorization-response',
    'the authorization response keeps the query of the redirect URI',
    async () => {
      await using server = await startAuthorizationServer();
      const callback = `${WEB_CALLBACK}?tenant=a%20b`;
      const client = await register(server, { redirect_uris: [callback] });
      const url = authorizationUrl(client.id, { redirect_uri: callback, state: undefined });
      const redirect = await decide(server, url, await server.signIn());
      expect(redirect.href).toMatch(
        /\?tenant=a%20b&code=[\w-]+&iss=https%3A%2F%2Fmcp.example.com$/,
      );
    },
  );

  verifies(
    'as.authorization-response',
    'the authorization response contains a state of up to 2048 characters unchanged',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const state = `&=+%20"<>ä ${'x'.repeat(2000)}`;
      const url = authorizationUrl(client.id, { state });
      const redirect = await decide(server, url, await server.signIn());
      expect(redirect.searchParams.get('state')).toBe(state);
    },
  );

  test('the authorization endpoint answers 429 to a network that sends more than a thousand requests a minute', async () => {
    await using server = await startAuthorizationServer();
    const url = authorizationUrl('unknown');
    for (let request = 0; request < 1000; request += 1) {
      expect((await server.send(url)).status).not.toBe(429);
    }
    const refused = await server.send(url);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('60');
  });

  test('the authorization endpoint counts no requests of images, scripts and frames for the network', async () => {
    await using server = await startAuthorizationServer();
    const url = authorizationUrl('unknown');
    const embedded = [
      { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
      { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    ];
    for (let request = 0; request < 1000; request += 1) {
      const headers = embedded[request % embedded.length] ?? {};
      expect((await server.send(url, { headers })).status).toBe(403);
    }
    const window = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await server.send(url, { headers: window })).status).toBe(400);
    // `fetch` of Node is no browser.
    expect((await server.send(url, { headers: { 'sec-fetch-mode': 'cors' } })).status).toBe(400);
  });
});

describe('The resource of an authorization request', () => {
  const SPELLINGS: readonly (readonly [string, string])[] = [
    ['as it is', RESOURCE],
    ['with a slash at its end', `${RESOURCE}/`],
    ['in capitals', 'HTTPS://MCP.Example.COM/mcp'],
    ['with the default port', 'https://mcp.example.com:443/mcp'],
    ['with a path below it', `${RESOURCE}/v1/messages`],
    ['with a query', `${RESOURCE}?tenant=a`],
  ];

  for (const [what, resource] of SPELLINGS) {
    verifies('as.resource', `the authorization endpoint accepts the resource ${what}`, async () => {
      await using server = await startAuthorizationServer();
      await expectTokenFor(server, RESOURCE, resource);
    });
  }

  for (const resource of [ISSUER, `${ISSUER}/`]) {
    verifies(
      'as.resource',
      `the authorization endpoint accepts ${resource} for a route at the root`,
      async () => {
        const routes = [aRoute({ path: { kind: 'prefix', value: '' } })];
        await using server = await startAuthorizationServer({ routes });
        await expectTokenFor(server, ISSUER, resource);
      },
    );
  }

  verifies(
    'as.resource',
    'an authorization request without a resource is for the only MCP route of the host',
    async () => {
      const routes = [aRoute(), aWebRoute({ path: { kind: 'prefix', value: '' } })];
      await using server = await startAuthorizationServer({ routes });
      await expectTokenFor(server, RESOURCE, undefined);
    },
  );

  verifies(
    'as.resource',
    'an authorization request must have a resource if the host has several MCP routes',
    async () => {
      const routes = [aRoute(), aRoute({ path: { kind: 'prefix', value: '/other' } })];
      await using server = await startAuthorizationServer({ routes });
      const client = await register(server);
      const url = authorizationUrl(client.id, { resource: undefined });
      expect(await errorOf(server, url)).toMatchObject({ error: 'invalid_target' });
    },
  );

  verifies(
    'as.resource',
    'the authorization endpoint refuses a resource of the gateway itself',
    async () => {
      const routes = [aRoute({ path: { kind: 'prefix', value: '' } })];
      await using server = await startAuthorizationServer({ routes });
      const client = await register(server);
      const url = authorizationUrl(client.id, { resource: `${ISSUER}/.gateway/mcp/token` });
      expect(await errorOf(server, url)).toMatchObject({ error: 'invalid_target' });
    },
  );

  verifies(
    'as.resource',
    'the authorization endpoint chooses the longest route that contains the resource',
    async () => {
      const routes = [aRoute(), aRoute({ path: { kind: 'prefix', value: '/mcp/inner' } })];
      await using server = await startAuthorizationServer({ routes });
      await expectTokenFor(server, `${RESOURCE}/inner`, `${RESOURCE}/inner/x`);
    },
  );
});

async function expectTokenFor(
  server: TestServer,
  audience: string,
  resource: string | undefined,
): Promise<void> {
  const client = await register(server);
  const reply = await redeem(server, await obtainCode(server, client, { resource }), client);
  const { accessToken } = tokensOf(reply);
  expect(await callResource(server, accessToken, audience)).toMatchObject({ status: 200 });
}
