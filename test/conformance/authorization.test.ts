import { describe, expect, test } from '@jest/globals';

import { verifies } from '../requirements/verifies.ts';
import {
  aRoute,
  aSession,
  aWebRoute,
  ISSUER,
  LOOPBACK_CALLBACK,
  RESOURCE,
  SIGN_IN_URL,
  startAuthorizationServer,
  WEB_CALLBACK,
  type Reply,
  type TestServer,
} from '../support/authorization-server.ts';
import {
  AUTHORIZE_URL,
  authorizationUrl,
  callResource,
  consentForm,
  decide,
  obtainCode,
  redeem,
  register,
  tokensOf,
} from '../support/client-flow.ts';
import { anOrigin } from '../support/an-origin.ts';

const CONSENT_URL = `${ISSUER}/.gateway/mcp/consent`;
const DOCUMENT_URL = 'https://app.clients.example/client.json';

const MINUTE = 60_000;

/** What a request has in place of a good one’s parameters; `undefined` leaves one out. */
type Changes = Readonly<Record<string, string | undefined>>;

function aDocument(members: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    client_id: DOCUMENT_URL,
    client_name: 'Documented client',
    redirect_uris: [WEB_CALLBACK],
    token_endpoint_auth_method: 'none',
    ...members,
  };
}

describe('An authorization request', () => {
  verifies(
    ['as.code-grant', 'as.iss', 'as.authorization-response'],
    'leads to the consent page and from there back with code, state and iss',
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

  verifies('as.redirect-with-get', 'may be posted as a form', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const { searchParams } = new URL(authorizationUrl(client.id));
    const reply = await server.send(AUTHORIZE_URL, { form: searchParams });
    expect(reply.status).toBe(303);
    expect(reply.headers.location).toMatch(new RegExp(`^${CONSENT_URL}\\?request=[\\w-]+$`));
  });

  verifies('as.authorization-response', 'keeps the query that the redirect URI has', async () => {
    await using server = await startAuthorizationServer();
    const callback = `${WEB_CALLBACK}?tenant=a%20b`;
    const client = await register(server, { redirect_uris: [callback] });
    const url = authorizationUrl(client.id, { redirect_uri: callback, state: undefined });
    const redirect = await decide(server, url, await server.signIn());
    expect(redirect.href).toMatch(/\?tenant=a%20b&code=[\w-]+&iss=https%3A%2F%2Fmcp.example.com$/);
  });

  verifies(
    'as.authorization-response',
    'echoes a state of up to 2048 characters as it was',
    async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server);
      const state = `&=+%20"<>ä ${'x'.repeat(2000)}`;
      const url = authorizationUrl(client.id, { state });
      const redirect = await decide(server, url, await server.signIn());
      expect(redirect.searchParams.get('state')).toBe(state);
    },
  );

  test('is refused from a network that sends more than a thousand a minute', async () => {
    await using server = await startAuthorizationServer();
    const url = authorizationUrl('unknown');
    for (let request = 0; request < 1000; request += 1) {
      expect((await server.send(url)).status).not.toBe(429);
    }
    const refused = await server.send(url);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('60');
  });
});

describe('An authorization request that must not be redirected', () => {
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
    verifies('as.no-open-redirect', `with ${what} ends on a page`, () => expectPageFor(changes));
  }

  const OTHER_REDIRECT_URIS: readonly (readonly [string, Changes])[] = [
    ['a redirect URI that is not registered', { redirect_uri: 'https://evil.example/' }],
    ['a redirect URI with another path', { redirect_uri: `${LOOPBACK_CALLBACK}/more` }],
    ['a redirect URI with a query added', { redirect_uri: `${LOOPBACK_CALLBACK}?a=b` }],
    ['a loopback port that is none', { redirect_uri: 'http://127.0.0.1:99999/callback' }],
    ['another loopback name', { redirect_uri: 'http://localhost:3000/callback' }],
    ['a redirect URI that is none', { redirect_uri: 'javascript:alert(1)' }],
  ];

  for (const [what, changes] of OTHER_REDIRECT_URIS) {
    verifies(['as.no-open-redirect', 'as.redirect-uri-exact'], `with ${what} ends on a page`, () =>
      expectPageFor(changes),
    );
  }

  for (const name of ['client_id', 'redirect_uri']) {
    verifies(
      ['as.no-open-redirect', 'as.no-repeated-parameters'],
      `with ${name} twice ends on a page`,
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
    'with a redirect URI that is not in the client’s document ends on a page',
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
    'of a client without a document at its URL ends on a page',
    async () => {
      await using server = await startAuthorizationServer();
      const changes = { redirect_uri: WEB_CALLBACK };
      expectPage(await server.send(authorizationUrl(DOCUMENT_URL, changes)), 400);
    },
  );

  verifies(
    'errors.client-id-domain-page',
    'because the domain of its client ID is not allowed says so, with the ids',
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
    'of a client that is registered at another issuer ends on a page',
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
  test('may be left out when the client has one', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const url = authorizationUrl(client.id, { redirect_uri: undefined });
    const redirect = await decide(server, url, await server.signIn());
    expect(redirect.origin + redirect.pathname).toBe(LOOPBACK_CALLBACK);
  });

  test.each([
    ['the client has several', [LOOPBACK_CALLBACK, WEB_CALLBACK]],
    ['the only one leaves its port open', ['http://127.0.0.1/callback']],
  ])('may not be left out when %s', async (_what, redirectUris) => {
    await using server = await startAuthorizationServer();
    const client = await register(server, { redirect_uris: redirectUris });
    const url = authorizationUrl(client.id, { redirect_uri: undefined });
    expectPage(await server.send(url), 400);
  });

  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    verifies(
      'as.redirect-uri-exact',
      `on ${host} may have any port, and the answer goes to that port`,
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

  verifies('as.redirect-uri-allowed', 'may have a private-use scheme', async () => {
    await using server = await startAuthorizationServer();
    const redirectUri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const client = await register(server, { redirect_uris: [redirectUri] });
    const url = authorizationUrl(client.id, { redirect_uri: redirectUri });
    const redirect = await decide(server, url, await server.signIn());
    expect(redirect.href.startsWith(`${redirectUri}?code=`)).toBe(true);
  });
});

/** An authorization request that is wrong, and the error code that says so. */
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
  ['an endless scope', { scope: 'x'.repeat(1025) }, 'invalid_scope'],
];

const RESOURCE_FAULTS: readonly Fault[] = [
  ['an unknown resource', { resource: `${ISSUER}/elsewhere` }, 'invalid_target'],
  ['a resource of another host', { resource: 'https://other.example/mcp' }, 'invalid_target'],
  ['a resource of another scheme', { resource: 'http://mcp.example.com/mcp' }, 'invalid_target'],
  ['a resource on another port', { resource: `${ISSUER}:8443/mcp` }, 'invalid_target'],
  ['a resource with a fragment', { resource: `${RESOURCE}#a` }, 'invalid_target'],
  ['a resource with a user name', { resource: 'https://a@mcp.example.com/mcp' }, 'invalid_target'],
  ['a resource that only begins alike', { resource: `${RESOURCE}2` }, 'invalid_target'],
  ['a resource that climbs out', { resource: `${RESOURCE}/../app` }, 'invalid_target'],
  ['a relative resource', { resource: '/mcp' }, 'invalid_target'],
  ['a resource that is no URL', { resource: 'mcp' }, 'invalid_target'],
  ['a route that is no MCP server', { resource: `${ISSUER}/app` }, 'invalid_target'],
  ['an endless resource', { resource: `${RESOURCE}/${'x'.repeat(2048)}` }, 'invalid_target'],
];

describe('An authorization request that cannot be granted', () => {
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

  for (const [what, changes, code] of RESPONSE_FAULTS) {
    verifies(
      ['as.authorization-errors', 'as.iss', 'as.grant-types'],
      `with ${what} tells a native client so`,
      () => expectRedirected(changes, code),
    );
  }

  for (const [what, changes, code] of PKCE_FAULTS) {
    verifies(
      ['as.authorization-errors', 'as.iss', 'as.pkce-required'],
      `with ${what} tells a native client so`,
      () => expectRedirected(changes, code),
    );
  }

  verifies('as.pkce-required', 'without PKCE tells a confidential client so too', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server, { token_endpoint_auth_method: 'client_secret_basic' });
    const withoutPkce = { code_challenge: undefined, code_challenge_method: undefined };
    expect(await errorOf(server, authorizationUrl(client.id, withoutPkce))).toMatchObject({
      error: 'invalid_request',
    });
  });

  for (const [what, changes, code] of SCOPE_FAULTS) {
    verifies(['as.authorization-errors', 'as.iss'], `with ${what} tells a native client so`, () =>
      expectRedirected(changes, code),
    );
  }

  for (const [what, changes, code] of RESOURCE_FAULTS) {
    verifies(
      ['as.authorization-errors', 'as.iss', 'as.resource'],
      `with ${what} tells a native client so`,
      () => expectRedirected(changes, code),
    );
  }

  for (const name of ['scope', 'code_challenge', 'unheard_of']) {
    verifies(
      'as.no-repeated-parameters',
      `with ${name} twice tells the client invalid_request`,
      async () => {
        await using server = await startAuthorizationServer();
        const client = await register(server);
        const url = `${authorizationUrl(client.id)}&${name}=a&${name}=a`;
        expect(await errorOf(server, url)).toMatchObject({ error: 'invalid_request' });
      },
    );
  }

  verifies('as.resource', 'with several resources tells the client invalid_target', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const url = `${authorizationUrl(client.id)}&resource=${encodeURIComponent(RESOURCE)}`;
    expect(await errorOf(server, url)).toMatchObject({ error: 'invalid_target' });
  });

  verifies('as.no-repeated-parameters', 'with two states echoes neither', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const error = await errorOf(server, `${authorizationUrl(client.id)}&state=other`);
    expect(error).toMatchObject({ error: 'invalid_request' });
    expect(error).not.toHaveProperty('state');
  });

  test('with an endless state does not echo it', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server);
    const error = await errorOf(server, authorizationUrl(client.id, { state: 'x'.repeat(2049) }));
    expect(error).toMatchObject({ error: 'invalid_request' });
    expect(error).not.toHaveProperty('state');
  });

  verifies(
    'as.no-open-redirect',
    'does not send the browser to a website that anybody registered',
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
    'is told at once to a website of a domain that the administrator allows',
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

describe('The resource of an authorization request', () => {
  const SPELLINGS: readonly (readonly [string, string])[] = [
    ['as it is', RESOURCE],
    ['with a slash at its end', `${RESOURCE}/`],
    ['in another case', 'HTTPS://MCP.Example.COM/mcp'],
    ['with the default port', 'https://mcp.example.com:443/mcp'],
    ['with a path below it', `${RESOURCE}/v1/messages`],
    ['with a query', `${RESOURCE}?tenant=a`],
  ];

  for (const [what, resource] of SPELLINGS) {
    verifies('as.resource', `is understood ${what}`, async () => {
      await using server = await startAuthorizationServer();
      await expectTokenFor(server, RESOURCE, resource);
    });
  }

  for (const resource of [ISSUER, `${ISSUER}/`]) {
    verifies('as.resource', `at the root is understood as ${resource}`, async () => {
      const routes = [aRoute({ path: { kind: 'prefix', value: '' } })];
      await using server = await startAuthorizationServer({ routes });
      await expectTokenFor(server, ISSUER, resource);
    });
  }

  verifies('as.resource', 'is the only MCP route of the host where it is missing', async () => {
    const routes = [aRoute(), aWebRoute({ path: { kind: 'prefix', value: '' } })];
    await using server = await startAuthorizationServer({ routes });
    await expectTokenFor(server, RESOURCE, undefined);
  });

  verifies('as.resource', 'must not be missing where there are several MCP routes', async () => {
    const routes = [aRoute(), aRoute({ path: { kind: 'prefix', value: '/other' } })];
    await using server = await startAuthorizationServer({ routes });
    const client = await register(server);
    const url = authorizationUrl(client.id, { resource: undefined });
    expect(await errorOf(server, url)).toMatchObject({ error: 'invalid_target' });
  });

  verifies('as.resource', 'is never the gateway itself', async () => {
    const routes = [aRoute({ path: { kind: 'prefix', value: '' } })];
    await using server = await startAuthorizationServer({ routes });
    const client = await register(server);
    const url = authorizationUrl(client.id, { resource: `${ISSUER}/.gateway/mcp/token` });
    expect(await errorOf(server, url)).toMatchObject({ error: 'invalid_target' });
  });

  verifies('as.resource', 'is the longest route that owns it', async () => {
    const routes = [aRoute(), aRoute({ path: { kind: 'prefix', value: '/mcp/inner' } })];
    await using server = await startAuthorizationServer({ routes });
    await expectTokenFor(server, `${RESOURCE}/inner`, `${RESOURCE}/inner/x`);
  });
});

describe('The consent page', () => {
  const onward = 'https: http://localhost:* http://127.0.0.1:*';

  verifies('as.consent', 'shows who asks, for what, and where the answer goes', async () => {
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
  });

  const WARNINGS: readonly (readonly [string, string, string | undefined])[] = [
    ['a website', WEB_CALLBACK, undefined],
    ['a program on this computer', LOOPBACK_CALLBACK, 'A program on this computer'],
    ['an application', 'cursor://mcp/callback', '<code>cursor:</code> links'],
  ];

  for (const [what, redirectUri, warning] of WARNINGS) {
    verifies('as.consent', `when the answer goes to ${what} warns as it should`, async () => {
      await using server = await startAuthorizationServer();
      const client = await register(server, { redirect_uris: [redirectUri] });
      const page = await consentPage(server, client.id, { redirect_uri: redirectUri });
      expect(page.body.includes('class="warning"')).toBe(warning !== undefined);
      expect(page.body).toContain(warning ?? '');
    });
  }

  test.each([
    [WEB_CALLBACK, `'self' https://client.example ${onward}`],
    [LOOPBACK_CALLBACK, `'self' http://127.0.0.1:3000 ${onward}`],
    // A host source cannot name an IPv6 address.
    ['http://[::1]:3000/callback', `'self' http: ${onward}`],
    ['cursor://mcp/callback', "'self' cursor:"],
  ])('lets its forms lead to %s', async (redirectUri, formAction) => {
    await using server = await startAuthorizationServer();
    const client = await register(server, { redirect_uris: [redirectUri] });
    const page = await consentPage(server, client.id, { redirect_uri: redirectUri });
    const policy = String(page.headers['content-security-policy']);
    expect(policy.split('; ')).toContain(`form-action ${formAction}`);
  });

  verifies('as.client-text-untrusted', 'does not run what a client calls itself', async () => {
    await using server = await startAuthorizationServer();
    const client = await register(server, { client_name: '<script>alert(1)</script>' });
    const page = await consentPage(server, client.id);
    expect(page.body).toContain('&lt;script&gt;');
    expect(page.body).not.toContain('<script');
  });

  verifies(
    'as.consent-page-protected',
    'is not framed, kept or run with scripts, and posts its origin',
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

  test('sends a browser without session to sign in, and back', async () => {
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

  test('does not take the session cookie of another host', async () => {
    const routes = [aRoute(), aRoute({ host: 'other.example.com' })];
    await using server = await startAuthorizationServer({ routes });
    const cookie = await server.signIn('https://other.example.com');
    const client = await register(server);
    const { headers } = await server.send(authorizationUrl(client.id));
    const reply = await server.send(headers.location ?? '', { headers: { cookie } });
    expect(reply.headers.location).toContain(SIGN_IN_URL);
  });

  verifies('as.consent-page-protected', 'does not answer a request that nobody made', async () => {
    await using server = await startAuthorizationServer();
    const cookie = await server.signIn();
    for (const query of ['', '?request=', '?request=unknown']) {
      expectPage(await server.send(CONSENT_URL + query, { headers: { cookie } }), 400);
    }
  });

  verifies(
    'as.consent-request-once',
    'does not answer a request that waited for more than ten minutes',
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
    'does not answer when the client withdrew the redirect URI meanwhile',
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

describe('The consent page of a gateway with a sign-in host', () => {
  const authenticateOrigin = anOrigin('https://sign-in.example.com');

  test('is served on that host', async () => {
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
    'is not served on a route host, where scripts of an upstream run',
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

/** Sends an authorization request and follows it to the consent page with a signed-in browser. */
async function consentPage(
  server: TestServer,
  clientId: string,
  changes: Changes = {},
  signedIn?: string,
): Promise<Reply> {
  const cookie = signedIn ?? (await server.signIn());
  const { headers } = await server.send(authorizationUrl(clientId, changes));
  return server.send(headers.location ?? '', { headers: { cookie } });
}

/** Expects a page, from which nothing but a person's click leads away. */
function expectPage({ status, headers }: Reply, expected: number): void {
  expect({ status, location: headers.location, type: headers['content-type'] }).toEqual({
    status: expected,
    location: undefined,
    type: 'text/html; charset=utf-8',
  });
}

async function errorOf(server: TestServer, url: string): Promise<Record<string, string>> {
  const { headers } = await server.send(url);
  return Object.fromEntries(new URL(headers.location ?? '').searchParams);
}

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
