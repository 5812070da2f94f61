import { expect } from '@jest/globals';
import { buffer } from 'node:stream/consumers';

import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { send } from '../support/http-client.ts';
import { openForAll } from '../support/open-for-all.ts';
import { callMcp, signInClient } from '../support/signed-in-client.ts';
import { startUpstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

const ELSEWHERE = 'https://elsewhere.example/.well-known/oauth-protected-resource';
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const REMOVED = 'upstream challenge removed';

interface Refusal {
  readonly status: number;
  readonly challenges: readonly string[];
}

interface World extends AsyncDisposable {
  readonly gateway: GatewayWithUsers['gateway'];
  /** Calls the MCP route, or the web route beside it, whose upstream refuses the request so. */
  readonly call: (refusal: Refusal, route?: 'web') => ReturnType<typeof send>;
}

/** An MCP route and a public web route, with an upstream that refuses every request. */
const world = openForAll<World>(async () => {
  let refusal: Refusal = { status: 200, challenges: [] };
  const upstream = await startUpstream((message, response) => {
    void buffer(message).then(() => {
      const { status, challenges } = refusal;
      response.writeHead(status, { 'WWW-Authenticate': [...challenges] }).end('refused');
    });
  });
  const users = await startGatewayWithUsers();
  const url = users.originOf('mcp');
  const web = users.originOf('web');
  await users.configure({
    mcp: { from: url, to: upstream.origin, mcp: { server: {} }, allowAnyAuthenticatedUser: true },
    web: { from: web, to: upstream.origin, allowPublicUnauthenticatedAccess: true },
  });
  const { accessToken } = await signInClient(url);
  return {
    gateway: users.gateway,
    call(next, route) {
      refusal = next;
      return route === 'web' ? send(web) : callMcp(url, accessToken, LIST);
    },
    async [Symbol.asyncDispose]() {
      await users[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
});

verifies(
  'mcp.upstream-challenge',
  'the 401 of an MCP server passes without a challenge that sends clients elsewhere, and a line says so',
  async () => {
    const { call, gateway } = world();
    for (const challenges of [
      ['Bearer'],
      ['bearer realm="mcp"'],
      [`Bearer error="invalid_token", resource_metadata="${ELSEWHERE}"`],
      [`Basic realm="mcp", Bearer resource_metadata="${ELSEWHERE}"`],
      ['Basic realm="mcp"', 'BEARER scope=files'],
      [`DPoP resource_metadata="${ELSEWHERE}"`],
    ]) {
      const logged = gateway.logs().length;
      const answer = await call({ status: 401, challenges });
      expect({ challenges, status: answer.status, body: answer.body }).toEqual({
        ...{ challenges, status: 401, body: 'refused' },
      });
      expect(answer.headers).not.toHaveProperty('www-authenticate');
      const lines = gateway.logs().slice(logged);
      expect(lines.filter(({ message }) => message === REMOVED)).toEqual([
        expect.objectContaining({
          ...{ level: 'warn', route: 'default/mcp', status: 401 },
          'request-id': answer.headers['x-request-id'],
        }),
      ]);
    }
  },
);

verifies(
  'mcp.upstream-challenge',
  'a 403 that asks a client for more scopes elsewhere passes without its challenge',
  async () => {
    const answer = await world().call({
      status: 403,
      challenges: [`Bearer error="insufficient_scope", resource_metadata="${ELSEWHERE}"`],
    });
    expect(answer.status).toBe(403);
    expect(answer.headers).not.toHaveProperty('www-authenticate');
  },
);

verifies(
  'mcp.upstream-challenge',
  'other challenges, and those of web applications, pass and are not logged',
  async () => {
    const { call, gateway } = world();
    const logged = gateway.logs().length;
    const basic = ['Basic realm="bearers"', 'Negotiate'];
    const answer = await call({ status: 401, challenges: basic });
    expect(answer.headers['www-authenticate']).toBe(basic.join(', '));
    const ofWeb = await call({ status: 401, challenges: ['Bearer realm="api"'] }, 'web');
    expect(ofWeb.headers['www-authenticate']).toBe('Bearer realm="api"');
    const lines = gateway.logs().slice(logged);
    expect(lines.filter(({ message }) => message === REMOVED)).toEqual([]);
  },
);
