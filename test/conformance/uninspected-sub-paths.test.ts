import { expect } from '@jest/globals';

import { startGatewayWithUsers } from '../support/gateway-with-users.ts';
import { send } from '../support/http-client.ts';
import { startMcpRoute, type McpRoute } from '../support/mcp-route.ts';
import { openForAll } from '../support/open-for-all.ts';
import { mcpHeaders, signInClient } from '../support/signed-in-client.ts';
import { startUpstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

const world = openForAll<McpRoute>(() =>
  startMcpRoute({ maxRequestBytes: 128, subPaths: [{ path: '/files', inspected: false }] }),
);

verifies(
  'mcp.endpoint-only',
  'a sub-path that is not inspected takes any method and body, and the upstream gets no token',
  async () => {
    const { url, headers, upstream } = world();
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS']) {
      const index = upstream.requests.length;
      const hasBody = method.startsWith('P');
      const answer = await send(`${url}/files?q=1`, {
        ...{ method, headers: { ...headers, 'content-type': 'text/plain' } },
        ...(hasBody && { body: 'any text' }),
      });
      expect({ method, status: answer.status }).toEqual({ method, status: 200 });
      const { message } = await upstream.request(index);
      expect({ method: message.method, url: message.url }).toEqual({ method, url: '/files?q=1' });
      expect(message.headers.authorization).toBeUndefined();
      expect(world().bodies.at(-1)?.toString()).toBe(hasBody ? 'any text' : '');
    }
  },
);

verifies(
  ['mcp.endpoint-only', 'mcp.max-request-bytes'],
  'a sub-path that is not inspected has the limits of its route',
  async () => {
    const { url, headers } = world();
    const arrivals = await world().arrivalsDuring(async () => {
      const anonymous = await send(`${url}/files`, { method: 'PUT' });
      expect(anonymous.status).toBe(401);
      const foreign = { ...headers, origin: 'https://evil.example' };
      expect((await send(`${url}/files`, { method: 'PUT', headers: foreign })).status).toBe(403);
      for (const framing of [{}, { 'transfer-encoding': 'chunked' }]) {
        const long = { method: 'PUT', headers: { ...headers, ...framing }, body: 'x'.repeat(129) };
        expect((await send(`${url}/files`, long)).status).toBe(413);
      }
      expect((await send(`${url}/files/`, { method: 'PUT', headers })).status).toBe(404);
    });
    expect(arrivals).toBe(0);
  },
);

verifies(
  ['mcp.endpoint-only', 'mcp.policy-on-every-request'],
  'the policy decides who may use a sub-path that is not inspected',
  async () => {
    await using upstream = await startUpstream((message, response) => {
      message.resume();
      response.end();
    });
    await using gateway = await startGatewayWithUsers();
    const url = gateway.originOf('mcp');
    await gateway.configure({
      mcp: {
        ...{ from: url, to: upstream.origin },
        mcp: { server: { subPaths: [{ path: '/files', inspected: false }] } },
        policy: { allow: { and: [{ groups: { has: 'admins' } }] } },
      },
    });
    for (const [login, status, arrivals] of [
      ['alice', 403, 0],
      ['carol', 200, 1],
    ] as const) {
      const { accessToken } = await signInClient(url, { login });
      const headers = mcpHeaders(accessToken);
      const answer = await send(`${url}/files`, { method: 'DELETE', headers });
      expect({ login, status: answer.status }).toEqual({ login, status });
      expect(upstream.requests).toHaveLength(arrivals);
    }
  },
);
