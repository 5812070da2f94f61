import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { BrowserJar, type BrowserPage } from '../support/browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { discover, register } from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

const MINUTE = 60_000;

/** More bytes than a response of a provider may have. */
const TOO_LONG = 'x'.repeat(2 ** 20);

let offset = 0;
let world: GatewayWithUsers;
let upstream: Upstream;
/** A web server that is not an identity provider. */
let elsewhere: Upstream;
/** An identity provider with metadata that are too long. */
let verbose: Upstream;
let web: string;
let mcp: string;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    response.end('upstream');
  });
  elsewhere = await startUpstream((_message, response) => response.end('<h1>Welcome</h1>'));
  verbose = await startUpstream(({ headers }, response) => {
    const issuer = `http://${String(headers.host)}`;
    const endpoints = { authorization_endpoint: issuer, token_endpoint: issuer, jwks_uri: issuer };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ issuer, ...endpoints, TOO_LONG }));
  });
  world = await startGatewayWithUsers({ now: () => Date.now() + offset });
  [web, mcp] = [world.originOf('web'), world.originOf('mcp')];
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
  await verbose[Symbol.asyncDispose]();
});

async function serve(issuerUrl = world.identityProvider.issuer): Promise<void> {
  const { clientId } = world.identityProvider;
  const clientSecretRef = { name: 'identity-provider', key: 'client-secret' };
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  await world.configure(
    { web: { ...route, from: web }, mcp: { ...route, from: mcp, mcp: { server: {} } } },
    { identityProviders: [{ name: 'test', issuerUrl, clientId, clientSecretRef }] },
  );
}

/** Fails unless the user got an error page, and the log has one record with the reason. */
async function expectFailurePage(run: () => Promise<BrowserPage>): Promise<void> {
  const [logged, arrived] = [world.gateway.logs().length, upstream.requests.length];
  const page = await run();
  expect(page.status).toBe(502);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['cache-control']).toBe('no-store');
  const requestId = String(page.headers['x-request-id']);
  expect(page.body).toContain(`Request ID: <code>${requestId}</code>`);
  expect(page.body).toContain('Try again');

  const lines = world.gateway.logs().slice(logged);
  const failures = lines.filter(({ level }) => level !== 'info');
  expect(failures).toEqual([
    expect.objectContaining({
      ...{ level: 'warn', 'request-id': requestId, reason: 'identity-provider-failed' },
      error: expect.any(String),
    }),
  ]);
  const { clientSecret } = world.identityProvider;
  expect(page.body).not.toContain(clientSecret);
  expect(JSON.stringify(lines)).not.toContain(clientSecret);
  expect(JSON.stringify(lines)).not.toMatch(/code_verifier|[?&](?:code|state|nonce|request)=/);
  expect(upstream.requests).toHaveLength(arrived);
}

describe('A sign-in that cannot begin', () => {
  const ISSUERS: readonly (readonly [string, () => string | Promise<string>])[] = [
    ['nothing listens at the issuer URL', unusedOrigin],
    ['another server answers at the issuer URL', () => elsewhere.origin],
    ['the metadata of the provider are too long', () => verbose.origin],
    ['the issuer URL has an unknown path', () => `${world.identityProvider.issuer}/realms/x`],
    [
      'the metadata have another issuer',
      () => world.identityProvider.issuer.replace('127.0.0.1', 'localhost'),
    ],
  ];

  for (const [what, issuer] of ISSUERS) {
    verifies(
      'errors.auth-flow-page',
      `the browser gets an error page because ${what}, and the log has one record`,
      async () => {
        await serve(await issuer());
        await expectFailurePage(() => new BrowserJar().open(`${web}/x`));
      },
    );
  }

  verifies(
    'errors.auth-flow-page',
    'the browser of an MCP client’s user gets the error page',
    async () => {
      await serve(await unusedOrigin());
      const server = await discover(mcp);
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: await register(server),
        code_challenge: 'a'.repeat(43),
        code_challenge_method: 'S256',
      });
      const url = `${server.authorizationEndpoint}?${query.toString()}`;
      await expectFailurePage(() => new BrowserJar().open(url));
    },
  );

  verifies('errors.auth-flow-page', 'sign-in works again once the provider is back', async () => {
    const { identityProvider } = world;
    await serve();
    await identityProvider.stop();
    const browser = new BrowserJar();
    await expectFailurePage(() => browser.open(`${web}/x?y`));
    await identityProvider.start();
    offset += MINUTE;
    const page = await browser.submit(await browser.open(`${web}/x?y`), { login: 'alice' });
    expect({ status: page.status, url: page.url }).toEqual({ status: 200, url: `${web}/x?y` });
  });
});

describe('A sign-in that cannot end', () => {
  const FAILED = { status: 500, body: { error: 'broken' } };
  const FAILURES = [
    ['token', 'fails', FAILED],
    ['userinfo', 'fails', FAILED],
    ['userinfo', 'sends too many claims', { status: 200, body: { sub: 'alice', TOO_LONG } }],
    ['keys', 'fails', FAILED],
  ] as const;

  for (const [endpoint, what, answer] of FAILURES) {
    verifies(
      'errors.auth-flow-page',
      `the browser gets an error page because the provider’s ${endpoint} endpoint ${what}, and the log has one record`,
      async () => {
        const { identityProvider } = world;
        await serve();
        offset += 2 * 60 * MINUTE;
        const browser = new BrowserJar();
        const form = await browser.open(web);
        identityProvider.answers.set(endpoint, answer);
        try {
          await expectFailurePage(() => browser.submit(form, { login: 'alice' }));
        } finally {
          identityProvider.answers.clear();
        }
      },
    );
  }
});

/** Returns an origin on this machine where nothing listens. */
async function unusedOrigin(): Promise<string> {
  const gone = await startUpstream(() => undefined);
  await gone[Symbol.asyncDispose]();
  return gone.origin;
}
