import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { BrowserJar } from '../support/browser-jar.ts';
import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { membersOf, send, type Answer, type RequestOptions } from '../support/http-client.ts';
import { RawClient } from '../support/raw-http.ts';
import {
  authorize,
  challengeParameters,
  discover,
  postForm,
  redeem,
  register,
  signInClient,
  type FoundServer,
  type SignedInClient,
} from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

const METADATA = '/.well-known/oauth-protected-resource';
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const MINUTE = 60_000;

let world: GatewayWithUsers;
let upstream: Upstream;
/** The one MCP route of a host, without a prefix. */
let only: string;
/** A host with several MCP routes, and others. */
let several: string;
let client: SignedInClient;
let filesClient: SignedInClient;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    response.setHeader('content-type', 'application/json');
    response.end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  world = await startGatewayWithUsers();
  only = world.originOf('only');
  several = world.originOf('several');
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  await world.configure({
    only: { ...route, from: only, mcp: { server: {} } },
    files: { ...route, from: several, prefix: '/files', mcp: { server: {} } },
    drafts: { ...route, from: several, prefix: '/files/drafts', mcp: { server: {} } },
    mail: { ...route, from: several, path: '/mail', mcp: { server: {} } },
    web: { ...route, from: several },
  });
  client = await signInClient(only);
  filesClient = await signInClient(`${several}/files`);
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

function bearer(token: string): RequestOptions['headers'] {
  return { authorization: `Bearer ${token}` };
}

function post(url: string, headers: RequestOptions['headers'] = {}): Promise<Answer> {
  const jsonHeaders = { 'content-type': 'application/json', ...headers };
  return send(url, { method: 'POST', headers: jsonHeaders, body: PING });
}

/** What a refused client gets: where to find the metadata, and JSON-RPC that says nothing more. */
function expectChallenge(
  answer: Answer,
  { metadata, error }: { readonly metadata: string; readonly error?: string },
): void {
  const reason = error === undefined ? 'no-token' : 'invalid-token';
  expectJsonRpcError(answer, { status: 401, code: 40101, reason });
  const parameters = { ...(error !== undefined && { error }), resource_metadata: metadata };
  expect(challengeParameters(answer.headers['www-authenticate'])).toEqual(parameters);
}

/** Runs a request that must not get any further than the gateway. */
async function expectUpstreamUntouched(run: () => Promise<void>): Promise<void> {
  const before = upstream.requests.length;
  await run();
  expect(upstream.requests).toHaveLength(before);
}

describe('A request to an MCP route without a bearer token', () => {
  const CREDENTIALS: readonly (readonly [string, () => RequestOptions['headers']])[] = [
    ['with nothing', () => ({})],
    ['with Basic credentials', () => ({ authorization: 'Basic YWxpY2U6c2VjcmV0' })],
    ['with an empty bearer value', () => ({ authorization: 'Bearer ' })],
    ['with a token of another scheme', () => ({ authorization: `DPoP ${client.accessToken}` })],
    ['with a token without a scheme', () => ({ authorization: client.accessToken })],
    ['with a token in a cookie', () => ({ cookie: `access_token=${client.accessToken}` })],
    ['with a token in another header', () => ({ 'x-access-token': client.accessToken })],
    ['with a session cookie', () => ({ cookie: sessionCookie(client.browser) })],
  ];

  for (const [what, headers] of CREDENTIALS) {
    verifies(
      ['mcp.token-required', 'rs.challenge', 'rs.token-in-header-only'],
      `${what} is challenged without an error code`,
      () =>
        expectUpstreamUntouched(async () => {
          expectChallenge(await post(only, headers()), { metadata: only + METADATA });
        }),
    );
  }

  verifies('rs.token-in-header-only', 'with one in the query is challenged as if it had none', () =>
    expectUpstreamUntouched(async () => {
      const { accessToken } = client;
      for (const name of ['access_token', 'token', 'authorization']) {
        const answer = await post(`${only}/?${name}=${accessToken}`);
        expectChallenge(answer, { metadata: only + METADATA });
      }
    }),
  );

  verifies('mcp.token-required', 'is refused whatever its method, GET and DELETE too', () =>
    expectUpstreamUntouched(async () => {
      for (const method of ['GET', 'DELETE', 'POST']) {
        expectChallenge(await send(only, { method }), { metadata: only + METADATA });
      }
    }),
  );

  verifies(
    'mcp.never-redirects',
    'is never redirected and never gets a page, not even from a browser that navigates',
    () =>
      expectUpstreamUntouched(async () => {
        const navigation = {
          accept: 'text/html,application/xhtml+xml',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'document',
        };
        for (const method of ['GET', 'POST', 'DELETE']) {
          const answer = await send(only, { method, headers: navigation });
          expectChallenge(answer, { metadata: only + METADATA });
        }
        const signedIn = await client.browser.open(only);
        expect(signedIn.status).toBe(401);
        expect(signedIn.hops).toHaveLength(1);
      }),
  );

  verifies(
    'rs.every-request',
    'is refused although others of the same connection and MCP session had one',
    async () => {
      await using connection = await RawClient.connect(world.gateway.port);
      const head = `POST / HTTP/1.1\r\nHost: ${new URL(only).host}\r\nMcp-Session-Id: s\r\n`;
      const rest = `Content-Type: application/json\r\nContent-Length: ${String(PING.length)}\r\n\r\n`;
      connection.send(`${head}Authorization: Bearer ${client.accessToken}\r\n${rest}${PING}`);
      const first = await connection.response();
      connection.send(head + rest + PING);
      const second = await connection.response();
      expect([first.status, second.status]).toEqual([200, 401]);
    },
  );
});

function sessionCookie(browser: BrowserJar): string {
  const cookies = browser.cookies.filter(({ host }) => host === new URL(only).hostname);
  expect(cookies).not.toHaveLength(0);
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}

describe('A token that is no good', () => {
  const TOKENS: readonly (readonly [string, () => string | Promise<string>])[] = [
    ['it is garbage', () => 'garbage'],
    ['it only looks like one', () => 'gte_garbage'],
    ['it was altered', () => altered(client.accessToken)],
    ['it has something behind it', () => `${client.accessToken}A`],
    ['it is a refresh token', () => client.refreshToken],
    ['it is another host’s', () => filesClient.accessToken],
    ['it is another gateway’s', tokenOfAnotherGateway],
    ['it was revoked', revokedToken],
  ];

  for (const [what, token] of TOKENS) {
    verifies(
      ['rs.challenge', 'mcp.token-required', 'rs.audience'],
      `because ${what}, is challenged as invalid without saying why`,
      async () => {
        const value = await token();
        await expectUpstreamUntouched(async () => {
          const answer = await post(only, bearer(value));
          expectChallenge(answer, { metadata: only + METADATA, error: 'invalid_token' });
          expect(answer.body).not.toContain(value);
        });
      },
    );
  }

  verifies(
    ['rs.challenge', 'tokens.external-limited'],
    'because its quarter of an hour is over, is challenged as invalid',
    async () => {
      let offset = 0;
      await using aged = await startGatewayWithUsers({ now: () => Date.now() + offset });
      const from = aged.originOf('only');
      await aged.configure({
        only: { from, to: upstream.origin, mcp: { server: {} }, allowAnyAuthenticatedUser: true },
      });
      const { accessToken } = await signInClient(from);
      offset = 14 * MINUTE;
      expect((await post(from, bearer(accessToken))).status).toBe(200);
      offset = 16 * MINUTE;
      const answer = await post(from, bearer(accessToken));
      expectChallenge(answer, { metadata: from + METADATA, error: 'invalid_token' });
    },
  );

  verifies(
    'tokens.external-limited',
    'because the gateway goes by another name now, is challenged as invalid',
    async () => {
      await using renamed = await startGatewayWithUsers();
      const from = renamed.originOf('only');
      const routes = {
        only: { from, to: upstream.origin, mcp: { server: {} }, allowAnyAuthenticatedUser: true },
      };
      await renamed.configure(routes);
      const { accessToken } = await signInClient(from);
      expect((await post(from, bearer(accessToken))).status).toBe(200);
      await renamed.configure(routes, { name: 'another' });
      const answer = await post(from, bearer(accessToken));
      expectChallenge(answer, { metadata: from + METADATA, error: 'invalid_token' });
    },
  );
});

function altered(token: string): string {
  const middle = Math.floor(token.length / 2);
  const other = token.charAt(middle) === 'A' ? 'B' : 'A';
  return token.slice(0, middle) + other + token.slice(middle + 1);
}

async function tokenOfAnotherGateway(): Promise<string> {
  await using another = await startGatewayWithUsers();
  const from = another.originOf('only');
  await another.configure({
    only: { from, to: upstream.origin, mcp: { server: {} }, allowAnyAuthenticatedUser: true },
  });
  return (await signInClient(from)).accessToken;
}

async function revokedToken(): Promise<string> {
  const { accessToken, clientId, server } = await signInClient(only);
  expect((await post(only, bearer(accessToken))).status).toBe(200);
  const form = { token: accessToken, client_id: clientId };
  expect((await postForm(server.revocationEndpoint, form)).status).toBe(200);
  return accessToken;
}

describe('A token that is good', () => {
  verifies('mcp.token-required', 'is taken whatever the case of its scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${client.accessToken}` };
      expect((await post(only, headers)).status).toBe(200);
    }
  });

  verifies(
    'mcp.token-required',
    'is taken beside a session cookie, which is ignored, valid or not',
    async () => {
      const cookies = [sessionCookie(client.browser), 'gatehouse-1=x; a=b'];
      for (const cookie of cookies) {
        const answer = await post(only, { ...bearer(client.accessToken), cookie });
        expect(answer.status).toBe(200);
      }
    },
  );
});

verifies(
  'mcp.token-required',
  'A token goes on when its user signs out of the browser, and is not the browser’s session',
  async () => {
    const { accessToken, browser } = await signInClient(only);
    await browser.submit(await browser.open(`${only}/.gateway/sign_out`));
    expect((await post(only, bearer(accessToken))).status).toBe(200);
    expect(browser.cookies.filter(({ host }) => host === new URL(only).hostname)).toEqual([]);
  },
);

describe('Protected resource metadata', () => {
  verifies(
    ['rs.metadata', 'rs.challenge'],
    'are where the challenge says, and about the very URL that was called',
    async () => {
      const urls = [only, `${several}/files`, `${several}/files/drafts`, `${several}/mail`];
      for (const url of urls) {
        const { headers } = await post(url);
        const { resource_metadata: metadataUrl = '' } = challengeParameters(
          headers['www-authenticate'],
        );
        const answer = await send(metadataUrl);
        expect(answer.status).toBe(200);
        expect(answer.headers['content-type']).toBe('application/json');
        expect(membersOf(answer)).toMatchObject({
          resource: url,
          authorization_servers: [new URL(url).origin],
          bearer_methods_supported: ['header'],
        });
      }
    },
  );

  verifies(
    'rs.metadata',
    'of a URL inside of a route are about that URL, and its token is the route’s',
    async () => {
      const server = await discover(`${several}/files/reports/2026`);
      expect(server.resource).toBe(`${several}/files/reports/2026`);
      const { accessToken } = await signInClient(`${several}/files/reports/2026`);
      for (const path of ['/files', '/files/reports/2026', '/files/other']) {
        expect((await post(several + path, bearer(accessToken))).status).toBe(200);
      }
    },
  );

  verifies(
    'rs.metadata',
    'are at the root and path-inserted where a host has one MCP route',
    async () => {
      await using separate = await startGatewayWithUsers();
      const from = separate.originOf('prefixed');
      await separate.configure({
        mcp: {
          ...{ from, to: upstream.origin, prefix: '/mcp', mcp: { server: {} } },
          allowAnyAuthenticatedUser: true,
        },
      });
      for (const path of ['', '/', '/mcp', '/mcp/']) {
        const answer = await send(from + METADATA + path);
        expect({ path, ...membersOf(answer) }).toMatchObject({ path, resource: `${from}/mcp` });
      }
      expect((await send(`${from}${METADATA}/elsewhere`)).status).toBe(404);
    },
  );

  verifies(
    'rs.metadata',
    'are not at the root of a host with several MCP routes, nor about what is none of them',
    async () => {
      for (const path of ['', '/web', '/filesystem', '/mail/box', '/.gateway/mcp']) {
        expect((await send(several + METADATA + path)).status).toBe(404);
      }
    },
  );

  verifies(
    ['rs.metadata', 'as.metadata'],
    'need no token, are no redirect for a browser, and answer HEAD without a body',
    async () => {
      const documents = [
        ...[METADATA, '/.well-known/oauth-authorization-server'],
        '/.well-known/openid-configuration',
      ];
      for (const path of documents) {
        const page = await new BrowserJar().open(only + path);
        expect({ path, status: page.status, hops: page.hops.length }).toEqual({
          path,
          status: 200,
          hops: 1,
        });
        const head = await send(only + path, { method: 'HEAD' });
        expect({ status: head.status, body: head.body }).toEqual({ status: 200, body: '' });
        expect(head.headers['content-length']).toBe(page.headers['content-length']);
        for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
          const answer = await send(only + path, { method });
          expect({ method, status: answer.status }).toEqual({ method, status: 405 });
        }
      }
    },
  );
});

describe('Several MCP routes on one host', () => {
  verifies(
    ['rs.audience', 'tokens.external-limited'],
    'each take a token of their own, and no other’s',
    async () => {
      const clients = {
        '/files': filesClient,
        '/files/drafts': await signInClient(`${several}/files/drafts`),
        '/mail': await signInClient(`${several}/mail`),
      };
      const outcomes: string[] = [];
      for (const [path, { accessToken }] of Object.entries(clients)) {
        for (const called of Object.keys(clients)) {
          const { status } = await post(several + called, bearer(accessToken));
          outcomes.push(`token of ${path} at ${called}: ${String(status)}`);
          expect(status).toBe(path === called ? 200 : 401);
        }
      }
      expect(outcomes).toHaveLength(9);
    },
  );

  verifies('rs.audience', 'share a registration', async () => {
    const browser = new BrowserJar();
    const clientId = await register(filesClient.server);
    for (const path of ['/files', '/mail']) {
      const server = { ...filesClient.server, resource: several + path };
      const redirect = await authorize(server, clientId, { browser });
      const answer = await redeem(server, clientId, redirect.searchParams.get('code') ?? '');
      const token = String(membersOf(answer)['access_token']);
      expect((await post(several + path, bearer(token))).status).toBe(200);
    }
  });

  describe('and the resource of an authorization request', () => {
    const VARIANTS: readonly (readonly [string, string])[] = [
      ['as it is', '/files'],
      ['with a slash at its end', '/files/'],
      ['with a path inside of the route', '/files/a/b'],
      ['with a path that begins like another route’s', '/files/draftsman'],
    ];

    for (const [what, path] of VARIANTS) {
      verifies('as.resource', `${what} (${path}) gives a token for the route`, async () => {
        const { server, clientId } = filesClient;
        const token = await tokenFor({ ...server, resource: several + path }, clientId);
        expect((await post(`${several}/files`, bearer(token))).status).toBe(200);
        expect((await post(`${several}/files/drafts`, bearer(token))).status).toBe(401);
      });
    }

    verifies('as.resource', 'in capitals gives a token for the route', async () => {
      const { server, clientId } = filesClient;
      const resource = `${several.replace('http://several', 'HTTP://SEVERAL')}/files`;
      const token = await tokenFor({ ...server, resource }, clientId);
      expect((await post(`${several}/files`, bearer(token))).status).toBe(200);
    });

    const FOREIGN: readonly (readonly [string, () => string])[] = [
      ['of the host itself', () => several],
      ['of a web route', () => `${several}/web`],
      ['in other capitals', () => `${several}/FILES`],
      ['of another host', () => only],
      ['of somebody else', () => 'https://mcp.example.com/files'],
      ['with a fragment', () => `${several}/files#x`],
      ['with a user', () => `${several.replace('http://', 'http://alice@')}/files`],
      ['of the gateway itself', () => `${several}/.gateway/mcp/token`],
      ['that is no URL', () => '/files'],
    ];

    for (const [what, resource] of FOREIGN) {
      verifies('as.resource', `${what} is an invalid target`, async () => {
        const { server, clientId, browser } = filesClient;
        const foreign = { ...server, resource: resource() };
        const redirect = await authorize(foreign, clientId, { browser });
        expect(Object.fromEntries(redirect.searchParams)).toMatchObject({
          error: 'invalid_target',
          state: 'the-state',
          iss: several,
        });
      });
    }
  });
});

async function tokenFor(server: FoundServer, clientId: string): Promise<string> {
  const redirect = await authorize(server, clientId, { browser: filesClient.browser });
  const answer = await redeem(server, clientId, redirect.searchParams.get('code') ?? '');
  return String(membersOf(answer)['access_token']);
}
