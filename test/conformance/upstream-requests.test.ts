import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';

import type { BrowserJar } from '../support/browser-jar.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { membersOf, send, type Answer, type RequestOptions } from '../support/http-client.ts';
import { callMcp, signInClient, type SignedInClient } from '../support/signed-in-client.ts';
import { startUpstream, type ReceivedRequest, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

type Headers = NonNullable<RequestOptions['headers']>;

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const ASSERTION = 'x-gateway-assertion';

let world: GatewayWithUsers;
let upstream: Upstream;
let mcp: string;
let web: string;
let open: string;
let client: SignedInClient;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    response.setHeader('content-type', 'application/json');
    response.setHeader('set-cookie', [
      'own=1; Path=/',
      `gatehouse-${String(world.gateway.port)}=planted; Path=/`,
      '__Host-gatehouse=planted; Path=/; Secure',
      'gatehouse-sign-in-1-x=planted',
    ]);
    response.end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  world = await startGatewayWithUsers();
  [mcp, web, open] = [world.originOf('mcp'), world.originOf('web'), world.originOf('open')];
  const route = { to: upstream.origin, allowAnyAuthenticatedUser: true };
  await world.configure({
    mcp: { ...route, from: mcp, mcp: { server: {} } },
    web: { ...route, from: web },
    open: { from: open, to: upstream.origin, allowPublicUnauthenticatedAccess: true },
  });
  client = await signInClient(mcp);
  await client.browser.open(web);
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** A kind of route, and an authenticated request to it. */
interface Kind {
  readonly name: string;
  readonly origin: () => string;
  readonly request: (headers: Headers) => Promise<Answer>;
}

const MCP: Kind = {
  name: 'an MCP route',
  origin: () => mcp,
  request: (headers) => callMcp(mcp, client.accessToken, PING, headers),
};

const WEB: Kind = {
  name: 'a web route',
  origin: () => web,
  request: ({ cookie, ...headers }) => {
    const session = cookiesOf(client.browser, web);
    const cookies = cookie === undefined ? session : `${String(cookie)}; ${session}`;
    return send(web, { headers: { cookie: cookies, ...headers } });
  },
};

const PUBLIC: Kind = {
  name: 'a public route',
  origin: () => open,
  request: (headers) => send(open, { headers }),
};

const KINDS: readonly Kind[] = [MCP, WEB, PUBLIC];
const AUTHENTICATED: readonly Kind[] = [MCP, WEB];

function cookiesOf(browser: BrowserJar, origin: string): string {
  return browser.cookies
    .filter(({ host, name }) => host === new URL(origin).hostname && name !== 'own')
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ');
}

/** Sends a request, and returns what the upstream got. */
async function receivedFrom(kind: Kind, headers: Headers = {}): Promise<ReceivedRequest> {
  const index = upstream.requests.length;
  const answer = await kind.request(headers);
  expect(answer.status).toBe(200);
  return upstream.request(index);
}

function valuesOf({ headers }: ReceivedRequest, name: string): readonly string[] {
  return headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);
}

for (const kind of AUTHENTICATED) {
  const { name, origin } = kind;

  describe(`The assertion on ${name}`, () => {
    verifies(
      ['assertion.header', 'assertion.claims', 'assertion.verifiable'],
      'is verified by a standard library with the published keys, and says who the user is',
      async () => {
        const { host } = new URL(origin());
        const before = Math.floor(Date.now() / 1000);
        const received = await receivedFrom(kind);
        const [assertion = '', ...more] = valuesOf(received, ASSERTION);
        expect(more).toEqual([]);

        const document = membersOf(await send(`${origin()}/.gateway/jwks.json`));
        // RFC 7517, section 5.
        const keys = createLocalJWKSet(document as unknown as JSONWebKeySet);
        const issuer = origin();
        const { payload, protectedHeader } = await jwtVerify(assertion, keys, {
          issuer,
          audience: host,
        });
        expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JWT' });
        const { iat = 0, exp = 0, jti, ...claims } = payload;
        expect(claims).toEqual({
          ...{ iss: issuer, aud: host, sub: 'alice', email: 'alice@example.com' },
          ...{ name: 'Alice Adler', groups: ['engineering'] },
        });
        expect(iat).toBeGreaterThan(before - 60);
        expect(exp).toBe(iat + 300);
        expect(jti).toMatch(/^[\w-]{16,}$/);
      },
    );

    const COPIES: readonly Headers[] = [
      { 'x-gateway-assertion': 'forged' },
      { 'X-GATEWAY-ASSERTION': 'forged' },
      { 'x-gateway-assertion': ['forged', 'forged'] },
      { x_gateway_assertion: 'forged' },
      { 'x-gateway_assertion': 'forged' },
      { 'x.gateway.assertion': 'forged' },
      { connection: 'x-gateway-assertion, close', 'x-gateway-assertion': 'forged' },
      { connection: 'x-gateway-assertion' },
    ];

    for (const headers of COPIES) {
      verifies('assertion.header', `stays alone beside ${JSON.stringify(headers)}`, async () => {
        const received = await receivedFrom(kind, headers);
        expect(JSON.stringify(received.headers)).not.toContain('forged');
        expect(valuesOf(received, ASSERTION)).toEqual([expect.stringMatching(/^ey[\w.-]+$/)]);
      });
    }
  });
}

verifies(
  'assertion.header',
  'A public route gets no assertion, not even a signed-in user’s',
  async () => {
    const cookie = cookiesOf(client.browser, web);
    for (const headers of [{}, { cookie }, { 'x-gateway-assertion': 'forged' }]) {
      expect(valuesOf(await receivedFrom(PUBLIC, headers), ASSERTION)).toEqual([]);
    }
  },
);

verifies('assertion.claims', 'The assertion for one host is none for another', async () => {
  const [first] = valuesOf(await receivedFrom(MCP), ASSERTION);
  const [second] = valuesOf(await receivedFrom(WEB), ASSERTION);
  expect(second).not.toBe(first);
  // Each is signed once, not once a request.
  expect(valuesOf(await receivedFrom(MCP), ASSERTION)).toEqual([first]);
});

for (const kind of KINDS) {
  const { name, origin } = kind;

  describe(`The upstream of ${name}`, () => {
    verifies('assertion.header', 'gets no X-Gateway header of a client', async () => {
      const received = await receivedFrom(kind, {
        ...{ 'x-gateway-user': 'forged', 'X-Gateway-Groups': 'forged', x_gateway_user: 'forged' },
        ...{ 'x-gateway': 'forged', 'x-gateway-mcp': 'forged', 'x-gatewayed': 'own' },
      });
      expect(JSON.stringify(received.headers)).not.toContain('forged');
      expect(valuesOf(received, 'x-gatewayed')).toEqual(['own']);
    });

    verifies(
      'route.forwarded-headers',
      'hears from the gateway alone where a request came from',
      async () => {
        const received = await receivedFrom(kind, {
          ...{ 'x-forwarded-for': '1.2.3.4', 'x-forwarded-host': 'evil.example' },
          ...{ 'x-forwarded-proto': 'gopher', 'x-forwarded-port': '1', 'x-forwarded-prefix': '/x' },
          ...{ forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4', x_forwarded_for: '1.2.3.4' },
          ...{ 'x-request-id': 'mine', 'x-original-url': '/x', 'x-rewrite-url': '/x' },
        });
        const { host } = new URL(origin());
        expect(valuesOf(received, 'x-forwarded-for')).toEqual(['127.0.0.1']);
        expect(valuesOf(received, 'x-forwarded-host')).toEqual([host]);
        expect(valuesOf(received, 'x-forwarded-proto')).toEqual(['http']);
        expect(valuesOf(received, 'x-request-id')).toEqual([
          expect.stringMatching(/^[\da-f-]{36}$/),
        ]);
        expect(valuesOf(received, 'host')).toEqual([new URL(upstream.origin).host]);
        for (const absent of ['forwarded', 'x-real-ip', 'x-forwarded-port', 'x-original-url']) {
          expect(valuesOf(received, absent)).toEqual([]);
        }
        expect(JSON.stringify(received.headers)).not.toContain('1.2.3.4');
      },
    );

    verifies('route.gateway-cookies', 'gets every cookie but the gateway’s', async () => {
      const own = 'gatehouse-1=x; __Host-gatehouse=x; gatehouse-sign-in-1-abc=x';
      const received = await receivedFrom(kind, {
        cookie: `first="a b"; ${own}; gatehouse=x; last=%20; gatehouses=1; empty=`,
      });
      expect(valuesOf(received, 'cookie')).toEqual(['first="a b"; last=%20; gatehouses=1; empty=']);
    });

    verifies(
      'route.gateway-cookies',
      'gets no cookie field when only the gateway’s are left',
      async () => {
        const received = await receivedFrom(kind, { cookie: 'gatehouse-1=x' });
        expect(valuesOf(received, 'cookie')).toEqual([]);
      },
    );

    verifies('route.gateway-cookies', 'cannot set one of the gateway’s', async () => {
      const { headers } = await kind.request({});
      expect(headers['set-cookie']).toEqual(['own=1; Path=/']);
    });
  });
}

describe('Authorization', () => {
  verifies(
    'mcp.upstream-without-auth',
    'never reaches the upstream of an MCP route, under any name',
    async () => {
      const { accessToken } = client;
      const bearer = `Bearer ${accessToken}`;
      const received = await receivedFrom(MCP, {
        ...{ authorization: [bearer, 'Bearer another'], 'proxy-authorization': bearer },
        ...{ 'x-forwarded-authorization': bearer, Authorization_: bearer },
      });
      expect(valuesOf(received, 'authorization')).toEqual([]);
      expect(valuesOf(received, 'proxy-authorization')).toEqual([]);
      expect(valuesOf(received, 'x-forwarded-authorization')).toEqual([]);
    },
  );

  for (const kind of [WEB, PUBLIC]) {
    const VALUES = [
      ...['Bearer an.opaque_token~+/==', 'bearer  two-spaces', 'Basic YWxpY2U6c2VjcmV0'],
      ...['Bearer eyJhbGciOiJub25lIn0.e30.', 'Digest username="alice", realm="x"', 'Bearer agte_x'],
    ];

    verifies(
      'bearer.default-unchanged',
      `reaches the upstream of ${kind.name} as it is, uninterpreted`,
      async () => {
        for (const authorization of VALUES) {
          const received = await receivedFrom(kind, { authorization });
          expect(valuesOf(received, 'authorization')).toEqual([authorization]);
        }
      },
    );

    verifies(
      'mcp.upstream-without-auth',
      `never reaches the upstream of ${kind.name} when it is a token of the gateway’s own`,
      async () => {
        const { accessToken, refreshToken } = client;
        const schemes = ['Bearer ', 'bearer ', 'BEARER  ', 'DPoP ', ''];
        for (const scheme of schemes) {
          for (const token of [accessToken, refreshToken, 'gte_x', 'gtr_x']) {
            const received = await receivedFrom(kind, { authorization: scheme + token });
            expect(valuesOf(received, 'authorization')).toEqual([]);
          }
        }
      },
    );
  }
});

describe('The path at the upstream', () => {
  interface Mapping {
    readonly prefix?: string;
    readonly path?: string;
    /** Path of `to`. */
    readonly to?: string;
    readonly serverPath?: string;
    /** Path asked for, and the one that arrives. */
    readonly paths: Readonly<Record<string, string>>;
  }

  const MAPPINGS: readonly Mapping[] = [
    { paths: { '/': '/', '/x/y/?q=%2F': '/x/y/?q=%2F' } },
    {
      serverPath: '/mcp',
      paths: { '/': '/mcp', '/mcp': '/mcp', '/mcp/': '/mcp/', '/mcp/x': '/mcp/x', '/x': '/mcp/x' },
    },
    { serverPath: '/mcp', paths: { '/mcpx': '/mcp/mcpx', '/?a=b': '/mcp?a=b' } },
    { serverPath: '/a/mcp/', paths: { '/': '/a/mcp', '/a': '/a/mcp/a', '/a/mcp': '/a/mcp' } },
    { to: '/base', serverPath: '/mcp', paths: { '/': '/base/mcp', '/mcp': '/base/mcp' } },
    { to: '/base/', paths: { '/': '/base', '/x': '/base/x' } },
    {
      prefix: '/files',
      serverPath: '/mcp',
      paths: { '/files': '/mcp', '/files/': '/mcp/', '/files/mcp': '/mcp', '/files/x': '/mcp/x' },
    },
    { prefix: '/mcp', serverPath: '/mcp', paths: { '/mcp': '/mcp', '/mcp/mcp': '/mcp' } },
    { path: '/hook', to: '/v1', serverPath: '/mcp', paths: { '/hook': '/v1/mcp' } },
  ];

  for (const { prefix, path, to = '', serverPath, paths } of MAPPINGS) {
    const route = JSON.stringify({ prefix, path, to, serverPath });
    verifies(['mcp.path-appended', 'route.from-to'], `of ${route}`, async () => {
      await using mapped = await startGatewayWithUsers();
      const from = mapped.originOf('mapped');
      await mapped.configure({
        mapped: {
          ...{ from, to: upstream.origin + to, allowAnyAuthenticatedUser: true },
          ...(prefix !== undefined && { prefix }),
          ...(path !== undefined && { path }),
          mcp: { server: serverPath === undefined ? {} : { path: serverPath } },
        },
      });
      const url = from + (prefix ?? path ?? '');
      const { accessToken, server } = await signInClient(url);
      // What clients are told is the public address: the server's own path is nobody's business.
      expect(server.resource).toBe(url);
      const arrived: Record<string, string> = {};
      for (const asked of Object.keys(paths)) {
        const index = upstream.requests.length;
        expect((await callMcp(from + asked, accessToken, PING)).status).toBe(200);
        arrived[asked] = (await upstream.request(index)).message.url ?? '';
      }
      expect(arrived).toEqual(paths);
    });
  }
});

test('An upstream is asked with the method and the other headers of the client', async () => {
  const received = await receivedFrom(WEB, {
    ...{ 'user-agent': 'test/1', 'accept-language': 'de', 'X-CaSe': 'kept' },
    ...{ 'sec-fetch-site': 'none', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
  });
  expect(received.message.method).toBe('GET');
  expect(received.headers).toContainEqual(['X-CaSe', 'kept']);
  expect(valuesOf(received, 'user-agent')).toEqual(['test/1']);
  expect(valuesOf(received, 'traceparent')).toHaveLength(1);
});
