import type { IncomingHttpHeaders } from 'node:http';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { open, send, type Answer, type RequestOptions } from '../support/http-client.ts';
import { signInClient, type SignedInClient } from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

const PAGE = 'https://inspector.example';
const ALLOWED_PAGE = 'https://chat.example.com';
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/** Request headers of a page that is an MCP client (MCP 2025-11-25 and 2026-07-28, W3C Trace Context). */
const REQUEST_HEADERS = [
  ...['authorization', 'content-type', 'accept', 'last-event-id', 'traceparent', 'tracestate'],
  ...['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name'],
];

/** Response headers that such a page must be able to read. */
const RESPONSE_HEADERS = ['www-authenticate', 'mcp-session-id', 'mcp-protocol-version'];

/** Endpoints of the gateway that pages of any origin may call. */
const ENDPOINTS = [
  ...['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server'],
  ...['/.well-known/openid-configuration', '/.gateway/jwks.json'],
  ...['/.gateway/mcp/register', '/.gateway/mcp/token', '/.gateway/mcp/revoke'],
  ...['/register', '/token'],
];

/** Pages for users, which scripts of other pages must not read. */
const PAGES = [
  ...['/.gateway/mcp/authorize', '/.gateway/mcp/consent', '/.gateway/sign_in'],
  ...['/.gateway/sign_out', '/.gateway/callback', '/.gateway/anything', '/authorize'],
];

let world: GatewayWithUsers;
let upstream: Upstream;
let origin: string;
let web: string;
let client: SignedInClient;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    response.writeHead(200, {
      'content-type': 'application/json',
      'access-control-allow-origin': 'https://upstream.example',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'x-own',
      'mcp-session-id': 'abc',
    });
    response.end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  world = await startGatewayWithUsers();
  origin = world.originOf('mcp');
  web = world.originOf('web');
  await world.configure(
    {
      mcp: {
        ...{ from: origin, to: upstream.origin, mcp: { server: {} } },
        allowAnyAuthenticatedUser: true,
      },
      web: { from: web, to: upstream.origin, allowPublicUnauthenticatedAccess: true },
    },
    { mcpAllowedOrigins: [ALLOWED_PAGE] },
  );
  client = await signInClient(origin);
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

function preflight(url: string, asked = 'authorization,content-type'): Promise<Answer> {
  const headers = {
    origin: PAGE,
    'access-control-request-method': 'POST',
    'access-control-request-headers': asked,
  };
  return send(url, { method: 'OPTIONS', headers });
}

function call(pageOrigin: string, headers: RequestOptions['headers'] = {}): Promise<Answer> {
  return send(origin, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${client.accessToken}`,
      origin: pageOrigin,
      ...headers,
    },
    body: PING,
  });
}

function listIn(value: string | undefined): readonly string[] {
  return (value ?? '').split(',').map((name) => name.trim().toLowerCase());
}

/** Fails unless pages of any origin can read the response, without credentials. */
function expectReadable(headers: IncomingHttpHeaders): void {
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(headers).not.toHaveProperty('access-control-allow-credentials');
  const exposed = listIn(headers['access-control-expose-headers']);
  expect(exposed).toEqual(expect.arrayContaining(RESPONSE_HEADERS));
}

describe('A preflight request', () => {
  for (const path of ['/', ...ENDPOINTS]) {
    verifies(
      ['as.cors', 'rs.cors'],
      `a preflight request to ${path} needs no token, and its response allows no credentials`,
      async () => {
        const before = upstream.requests.length;
        const { status, headers } = await preflight(origin + path, REQUEST_HEADERS.join(', '));
        expect(status).toBe(204);
        expect(headers['access-control-allow-origin']).toBe('*');
        expect(headers).not.toHaveProperty('access-control-allow-credentials');
        // `*` would not cover Authorization (Fetch, section 4.8).
        const allowed = listIn(headers['access-control-allow-headers']);
        expect(allowed).toEqual(expect.arrayContaining(REQUEST_HEADERS));
        const methods = listIn(headers['access-control-allow-methods']);
        expect(methods).toEqual(expect.arrayContaining(['get', 'post', 'delete']));
        expect(upstream.requests).toHaveLength(before);
      },
    );
  }

  verifies(
    'rs.cors',
    'a preflight response allows the headers that mirror arguments of tools, and no others',
    async () => {
      const { headers } = await preflight(origin, 'mcp-param-region, Mcp-Param-Tenant-Id, x-evil');
      const allowed = listIn(headers['access-control-allow-headers']);
      expect(allowed).toEqual(expect.arrayContaining(['mcp-param-region', 'mcp-param-tenant-id']));
      expect(allowed).not.toContain('x-evil');
    },
  );

  for (const path of PAGES) {
    verifies('as.cors', `the gateway refuses a preflight request to ${path}`, async () => {
      const { headers } = await preflight(origin + path);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    });
  }

  verifies('rs.cors', 'the upstream of a web route answers preflight requests', async () => {
    const before = upstream.requests.length;
    const { headers } = await preflight(web);
    expect(headers['access-control-allow-origin']).toBe('https://upstream.example');
    expect(upstream.requests).toHaveLength(before + 1);
  });
});

describe('A page of another origin', () => {
  for (const path of ENDPOINTS.slice(0, 4)) {
    verifies('as.cors', `a page of any origin can read ${path}`, async () => {
      const { status, headers } = await send(origin + path, { headers: { origin: PAGE } });
      expect(status).toBe(200);
      expectReadable(headers);
    });
  }

  const FAILURES: readonly (readonly [string, string, number])[] = [
    ['POST', '/.gateway/mcp/register', 400],
    ['POST', '/.gateway/mcp/token', 400],
    ['POST', '/.gateway/mcp/revoke', 400],
    ['PUT', '/.gateway/mcp/token', 405],
    ['GET', '/.well-known/oauth-protected-resource/.gateway', 404],
  ];

  for (const [method, path, status] of FAILURES) {
    verifies('as.cors', `a page of any origin can read why ${method} ${path} failed`, async () => {
      const answer = await send(origin + path, { method, headers: { origin: PAGE } });
      expect(answer.status).toBe(status);
      expectReadable(answer.headers);
    });
  }

  verifies(
    'rs.cors',
    'a page of any origin can read the challenge of the MCP endpoint',
    async () => {
      const answer = await call('http://localhost:6274', { authorization: 'Bearer nonsense' });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('resource_metadata=');
      expectReadable(answer.headers);
    },
  );

  verifies(
    'rs.cors',
    'a page of any origin can read why the MCP endpoint refused its body',
    async () => {
      const answer = await call('http://localhost:6274', { 'content-type': 'text/plain' });
      expect(answer.status).toBe(415);
      expectReadable(answer.headers);
    },
  );

  verifies(
    'rs.cors',
    'a page of any origin can read proxied responses, whatever CORS headers the upstream sends',
    async () => {
      const response = await open(origin, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${client.accessToken}`,
          origin: ALLOWED_PAGE,
        },
        body: PING,
      });
      response.resume();
      expect(response.statusCode).toBe(200);
      expectReadable(response.headers);
      const names = response.rawHeaders.filter((_text, index) => index % 2 === 0);
      const count = (name: string): number =>
        names.filter((one) => one.toLowerCase() === name).length;
      expect(count('access-control-allow-origin')).toBe(1);
      expect(count('access-control-expose-headers')).toBe(1);
      expect(count('mcp-session-id')).toBe(1);
    },
  );

  for (const path of PAGES) {
    verifies('as.cors', `a page of another origin cannot read ${path}`, async () => {
      const { headers } = await send(origin + path, { headers: { origin: PAGE } });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    });
  }
});

describe('The Origin header of a request to the MCP endpoint', () => {
  const ACCEPTED: readonly (readonly [string, () => string])[] = [
    ['that of the route', () => origin],
    ['one that the settings allow', () => ALLOWED_PAGE],
    ['localhost', () => 'http://localhost:6274'],
    ['a name under localhost', () => 'http://inspector.localhost'],
    ['127.0.0.1', () => 'http://127.0.0.1:8080'],
    ['::1', () => 'http://[::1]:8080'],
  ];

  for (const [what, page] of ACCEPTED) {
    verifies('rs.origin', `the MCP endpoint accepts an origin that is ${what}`, async () => {
      const { status, headers } = await call(page());
      expect(status).toBe(200);
      expectReadable(headers);
    });
  }

  const REFUSED: readonly (readonly [string, () => string])[] = [
    ['that of any other page', () => PAGE],
    ['null', () => 'null'],
    ['empty', () => ''],
    ['one that an allowed one is the beginning of', () => `${ALLOWED_PAGE}.evil.example`],
    ['an allowed one with another scheme', () => ALLOWED_PAGE.replace('https', 'http')],
    ['an allowed one with another port', () => `${ALLOWED_PAGE}:8443`],
    ['one that only begins like localhost', () => 'http://localhost.evil.example'],
    ['an address of the network', () => 'http://192.168.0.1'],
    ['one with a path', () => `${ALLOWED_PAGE}/`],
    ['two at once', () => `${ALLOWED_PAGE}, ${PAGE}`],
  ];

  for (const [what, page] of REFUSED) {
    verifies('rs.origin', `the MCP endpoint refuses an origin that is ${what}`, async () => {
      const before = upstream.requests.length;
      for (const method of ['POST', 'GET', 'DELETE']) {
        const answer = await send(origin, {
          method,
          headers: { authorization: `Bearer ${client.accessToken}`, origin: page() },
        });
        expectJsonRpcError(answer, { status: 403, code: 40301, reason: 'origin-not-allowed' });
        expect(answer.headers).not.toHaveProperty('www-authenticate');
      }
      expect(upstream.requests).toHaveLength(before);
    });
  }
});
