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
} from '../../support/authorization-server.ts';
import { authorizationUrl, register } from '../../support/client-flow.ts';
import {
  expectPage,
  type Changes,
  DOCUMENT_URL,
  aDocument,
  errorOf,
} from '../../support/authorization-pages.ts';

/** A fault of an authorization request, its parameters and the error code. */
type Fault = readonly [what: string, changes: Changes, code: string];

const RESPONSE_FAULTS: readonly Fault[] = [
  ['no response_type', { response_type: undefined }, 'invalid_request'],
  ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
  ['a hybrid response_type', { response_type: 'code id_token' }, 'unsupported_response_type'],
  ['the response in a fragment', { response_mode: 'fragment' }, 'invalid_request'],
];

const PKCE_FAULTS: readonly Fault[] = [
  ['no code_challenge', { code_challenge: undefined }, 'invalid_request'],
  ['an empty code_challenge', { code_challenge: '' }, 'invalid_request'],
  ['a short code_challenge', { code_challenge: 'x'.repeat(42) }, 'invalid_request'],
  ['a long code_challenge', { code_challenge: 'x'.repeat(44) }, 'invalid_request'],
  ['a padded code_challenge', { code_challenge: `${'x'.repeat(42)}=` }, 'invalid_request'],
  ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['PKCE without method', { code_challenge_method: undefined }, 'invalid_request'],
];

const SCOPE_FAULTS: readonly Fault[] = [
  ['a scope with a quote', { scope: 'a"b' }, 'invalid_scope'],
  ['a scope with two spaces', { scope: 'a  b' }, 'invalid_scope'],
  ['a scope that is too long', { scope: 'x'.repeat(1025) }, 'invalid_scope'],
];

const RESOURCE_FAULTS: readonly Fault[] = [
  ['an unknown resource', { resource: `${ISSUER}/elsewhere` }, 'invalid_target'],
  ['a resource of another host', { resource: 'https://other.example/mcp' }, 'invalid_target'],
  ['a resource of another scheme', { resource: 'http://mcp.example.com/mcp' }, 'invalid_target'],
  ['a resource on another port', { resource: `${ISSUER}:8443/mcp` }, 'invalid_target'],
  ['a resource with a fragment', { resource: `${RESOURCE}#a` }, 'invalid_target'],
  ['a resource with a user name', { resource: 'https://a@mcp.example.com/mcp' }, 'invalid_target'],
  ['a resource that only begins like the route', { resource: `${RESOURCE}2` }, 'invalid_target'],
  ['a resource with a dot segment', { resource: `${RESOURCE}/../app` }, 'invalid_target'],
  ['a relative resource', { resource: '/mcp' }, 'invalid_target'],
  ['a resource that is not a URL', { resource: 'mcp' }, 'invalid_target'],
  ['a web route as its resource', { resource: `${ISSUER}/app` }, 'invalid_target'],
  [
    'a resource that is too long',
    { resource: `${RESOURCE}/${'x'.repeat(2048)}` },
    'invalid_target',
  ],
];

describe('The error response of the authorization endpoint', () => {
  const routes = [aRoute(), aWebRoute({ path: { kind: 'prefix', value: '/app' } })];

  async function expectRedirected(changes: Changes, code: string): Promise<void> {
    await using server = await startAuthorizationServer({ routes });
    const client = await register(server);
    const reply = await server.send(authorizationUrl(client.id, changes));
    expect(reply.status).toBe(303);
    const redirect = new URL(reply.headers.location ?? '');
    expect(redirect.origin + redirect.pathname).toBe(LOOPBACK_CALLBACK);
    expect(Object.fromEntries(redirect.searchParams)).toEqual({
      error: code,
      error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
      state: 'the-state',
      iss: ISSUER,
    });
  }

  test('is in the log with its reason and the id of the request', async () => {
    await using server = await startAuthorizationServer({ routes });
    const client = await register(server);
    await server.send(authorizationUrl(client.id, { resource: `${ISSUER}/elsewhere` }));
    expect(server.logged.filter(({ message }) => message === 'request refused')).toEqual([
      {
        message: 'request refused',
        fields: { 'request-id': expect.any(String), reason: 'invalid-target' },
      },
    ]);
  });

  for (const [what, changes, code] of RESPONSE_FAULTS) {
    verifies(
      ['as.authorization-errors', 'as.iss', 'as.grant-types'],
      `a request with ${what} is reported to a native client`,
      () => expectRedirected(changes, code),
    );
  }

  for (const [what, changes, code] of PKCE_FAULTS) {
    verifies(
      ['as.authorization-errors', 'as.iss', 'as.pkce-required'],
      `a request with ${what} is reported to a native client`,
      () => expectRedirected(changes, code),
    );
  }

  verifies(
    'as.pkce-required',
    'a request without PKCE is reported to a confidential client',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server, { token_endpoint_auth_method: 'client_secret_basic' });
      const withoutPkce = { code_challenge: undefined, code_challenge_method: undefined };
      expect(await errorOf(server, authorizationUrl(client.id, withoutPkce))).toMatchObject({
        error: 'invalid_request',
      });
    },
  );

  for (const [what, changes, code] of SCOPE_FAULTS) {
    verifies(
      ['as.authorization-errors', 'as.iss'],
      `a request with ${what} is reported to a native client`,
      () => expectRedirected(changes, code),
    );
  }

  for (const [what, changes, code] of RESOURCE_FAULTS) {
    verifies(
      ['as.authorization-errors', 'as.iss', 'as.resource'],
      `a request with ${what} is reported to a native client`,
      () => expectRedirected(changes, code),
    );
  }

  for (const name of ['scope', 'code_challenge', 'unheard_of']) {
    verifies(
      'as.no-repeated-parameters',
      `a request with ${name} twice is reported as invalid_request`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server);
        const url = `${authorizationUrl(client.id)}&${name}=a&${name}=a`;
        expect(await errorOf(server, url)).toMatchObject({ error: 'invalid_request' });
      },
    );
  }

  verifies(
    'as.resource',
    'a request with several resources is reported as invalid_target',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const url = `${authorizationUrl(client.id)}&resource=${encodeURIComponent(RESOURCE)}`;
      expect(await errorOf(server, url)).toMatchObject({ error: 'invalid_target' });
    },
  );

  verifies(
    'as.no-repeated-parameters',
    'the error response to a request with two states contains neither',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const error = await errorOf(server, `${authorizationUrl(client.id)}&state=other`);
      expect(error).toMatchObject({ error: 'invalid_request' });
      expect(error).not.toHaveProperty('state');
    },
  );

  test('the error response to a request with a state that is too long does not contain it', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const error = await errorOf(server, authorizationUrl(client.id, { state: 'x'.repeat(2049) }));
    expect(error).toMatchObject({ error: 'invalid_request' });
    expect(error).not.toHaveProperty('state');
  });

  verifies(
    'as.no-open-redirect',
    'the error is shown on a page if the redirect URI is a website that anyone may have registered',
    async () => {
      // OAuth 2.1, section 7.12.2: the authorization server as an open redirector.
      await using server = await startAuthorizationServer();
      const client = await register(server, { redirect_uris: [WEB_CALLBACK] });
      const changes = { redirect_uri: WEB_CALLBACK, code_challenge: undefined };
      const reply = await server.send(authorizationUrl(client.id, changes));
      expectPage(reply, 400);
      expect(reply.body).toContain('<strong>client.example</strong>');
      expect(reply.body).toContain(`href="${WEB_CALLBACK}?error=invalid_request&amp;`);
    },
  );

  verifies(
    'as.authorization-errors',
    'the error is redirected to a website of a domain that the settings allow',
    async () => {
      await using server = await startAuthorizationServer({
        documents: { [DOCUMENT_URL]: aDocument() },
      });
      const changes = { redirect_uri: WEB_CALLBACK, code_challenge: undefined };
      const reply = await server.send(authorizationUrl(DOCUMENT_URL, changes));
      expect(reply.status).toBe(303);
      expect(reply.headers.location).toMatch(/^https:\/\/client\.example\/callback\?error=/);
    },
  );
});
