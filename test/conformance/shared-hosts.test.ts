import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { send, type Answer } from '../support/http-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

let upstream: Upstream;
let users: GatewayWithUsers;

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    response.setHeader('cross-origin-opener-policy', 'same-origin');
    response.setHeader('cross-origin-embedder-policy', 'require-corp');
    response.end('a page');
  });
  users = await startGatewayWithUsers();
});

afterAll(async () => {
  await users[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Serves a web route on the host of an MCP route, and one on a host of its own. */
async function serve(
  settings: Parameters<GatewayWithUsers['configure']>[1] = {},
  server: { readonly upstreamOauth2?: object } = {},
): Promise<void> {
  const page = { to: upstream.origin, prefix: '/app', allowPublicUnauthenticatedAccess: true };
  const [shared, web] = [users.originOf('shared'), users.originOf('web')];
  await users.configure(
    {
      app: { ...page, from: shared },
      web: { ...page, from: web },
      mcp: {
        ...{ from: shared, to: upstream.origin, prefix: '/mcp', mcp: { server } },
        allowAnyAuthenticatedUser: true,
      },
    },
    settings,
  );
}

function get(host: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return send(`${users.originOf(host)}/app/page`, { headers });
}

const WORKER = { 'service-worker': 'script', 'sec-fetch-dest': 'serviceworker' };

describe('A web route', () => {
  test('on the host of a consent page serves no service worker, and no opener policy', async () => {
    await serve();
    const worker = await get('shared', WORKER);
    expect(worker.headers['content-type']).toContain('text/javascript');
    expect(worker.headers['service-worker-allowed']).toBe('/');
    expect(worker.body).toContain('registration.unregister()');
    const { status, headers } = await get('shared');
    expect(status).toBe(200);
    expect(headers['cross-origin-opener-policy']).toBeUndefined();
    expect(headers['cross-origin-embedder-policy']).toBe('require-corp');
  });

  test('on another host may serve both', async () => {
    await serve();
    expect((await get('web', WORKER)).status).toBe(200);
    expect((await get('web')).headers['cross-origin-opener-policy']).toBe('same-origin');
  });

  test('on the host of an MCP route may serve both if users consent on the authenticate host', async () => {
    await serve({ authenticateUrl: users.originOf('authenticate') });
    expect((await get('shared', WORKER)).status).toBe(200);
    expect((await get('shared')).headers['cross-origin-opener-policy']).toBe('same-origin');
  });

  test('on the host of an MCP server that users connect serves neither in any case', async () => {
    const authenticateUrl = users.originOf('authenticate');
    await serve({ authenticateUrl }, { upstreamOauth2: {} });
    expect((await get('shared', WORKER)).body).toContain('registration.unregister()');
    expect((await get('shared')).headers['cross-origin-opener-policy']).toBeUndefined();
    expect((await get('web', WORKER)).body).toBe('a page');
  });

  test.each(['script', 'Script', '', 'no'])(
    'on the host of a consent page gets no request with `Service-Worker: %s`',
    async (value) => {
      await serve();
      const before = upstream.requests.length;
      await get('shared', { 'service-worker': value });
      expect(upstream.requests).toHaveLength(before);
    },
  );
});
