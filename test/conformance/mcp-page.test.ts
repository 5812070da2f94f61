import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { send, type Answer, type RequestOptions } from '../support/http-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const BROWSER = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'none',
};
const OLD_BROWSER = { accept: 'text/html,*/*;q=0.8' };

let world: GatewayWithUsers;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream((_message, response) => response.end());
  world = await startGatewayWithUsers();
  const server = { to: upstream.origin, mcp: { server: {} }, allowAnyAuthenticatedUser: true };
  const subPaths = [{ path: '/sse' }];
  await world.configure({
    whole: { from: world.originOf('whole'), ...server, mcp: { server: { subPaths } } },
    part: { from: world.originOf('part'), prefix: "/it's&co", ...server },
    web: { from: world.originOf('part'), to: upstream.origin, allowAnyAuthenticatedUser: true },
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

function open(path: string, headers: RequestOptions['headers'], method = 'GET'): Promise<Answer> {
  return send(world.originOf('whole') + path, { method, headers: { ...headers } });
}

function expectError({ status, headers }: Answer): void {
  expect(status).toBeGreaterThanOrEqual(400);
  expect(headers['content-type']).toBe('application/json');
}

describe('The URL of an MCP route', () => {
  test.each([
    ['a browser', BROWSER],
    ['an old browser', OLD_BROWSER],
  ])('is a page with the URL for %s', async (_, headers) => {
    for (const path of ['', '/']) {
      const answer = await open(path, headers);
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
      });
      expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
      expect(answer.headers).not.toHaveProperty('set-cookie');
      expect(answer.body).toContain(`<code class="copy">${world.originOf('whole')}</code>`);
    }
    expect(upstream.requests).toHaveLength(0);
  });

  test('is escaped on the page, which says nothing else about the route', async () => {
    const url = `${world.originOf('part')}/it's&co`;
    const answer = await send(url, { headers: BROWSER });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('/it&#39;s&amp;co</code>');
    expect(answer.body).not.toContain("it's");
    expect(answer.body).not.toContain(upstream.origin);
    expect(answer.body).not.toMatch(/default\/|part[^.]/);
  });

  test.each<[string, RequestOptions['headers']]>([
    ['a client that opens a stream', { accept: 'text/event-stream' }],
    ['a client that accepts everything', { accept: '*/*' }],
    ['a client that says nothing', {}],
    ['a client that also accepts pages', { accept: 'text/html, text/event-stream' }],
    ['a client with a token', { ...OLD_BROWSER, authorization: 'Bearer x' }],
    ['a client with a session', { ...OLD_BROWSER, 'mcp-session-id': 'x' }],
    ['a client with a version', { ...OLD_BROWSER, 'mcp-protocol-version': '2025-11-25' }],
    ['a script on a page', { ...BROWSER, 'sec-fetch-mode': 'cors' }],
    ['a page of another origin', { ...BROWSER, origin: 'https://other.example' }],
  ])('is no page for %s', async (_, headers) => {
    expectError(await open('', headers));
  });

  test.each(['HEAD', 'POST', 'DELETE'])('is no page for a %s of a browser', async (method) => {
    expectError(await open('', BROWSER, method));
  });

  test.each(['/sse', '/mcp', '//', '/.well-known/none'])(
    'has no page beside it, at %s',
    async (path) => {
      expect((await open(path, BROWSER)).body).not.toContain('class="copy"');
    },
  );
});
