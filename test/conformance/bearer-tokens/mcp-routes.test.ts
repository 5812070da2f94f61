import { beforeAll, describe, expect } from '@jest/globals';
import { decodeJwt } from 'jose';

import { startBearerWorld } from '../../support/bearer-world.ts';
import { expectJsonRpcError } from '../../support/expect-json-rpc-error.ts';
import { send } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import { openMcpSession } from '../../support/open-mcp-session.ts';
import {
  callMcp,
  mcpHeaders,
  signInClient,
  type SignedInClient,
} from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };

const world = openForAll(startBearerWorld);
let token: string;
let client: SignedInClient;

beforeAll(async () => {
  token = await world().machines.sign({ sub: 'robot', email: 'robot@example.com' });
  client = await signInClient(world().mcp);
});

function cookie(): string {
  return `gatehouse-${new URL(world().mcp).port}=${'A'.repeat(43)}`;
}

describe('An MCP route with an interpreting format', () => {
  verifies('bearer.mcp', 'accepts external tokens and JWTs', async () => {
    for (const accepted of [client.accessToken, token]) {
      const answer = await callMcp(world().mcp, accepted, PING);
      expect(answer).toMatchObject({ status: 200, body: '{"jsonrpc":"2.0","id":7,"result":{}}' });
    }
  });

  verifies('bearer.mcp', 'logs and asserts the caller with a JWT like any other', async () => {
    const [calls, decisions] = [
      world().upstream.requests.length,
      world().users.gateway.decisions().length,
    ];
    await callMcp(world().mcp, token, PING);
    const { message } = await world().upstream.request(calls);
    expect(message.headers).not.toHaveProperty('authorization');
    const assertion = decodeJwt(String(message.headers['x-gateway-assertion']));
    expect(assertion).toMatchObject({ sub: 'robot', email: 'robot@example.com' });
    expect(world().users.gateway.decisions().slice(decisions)).toMatchObject([
      { user: 'robot', email: 'robot@example.com', allow: true },
    ]);
  });

  verifies('bearer.mcp', 'denies a tool that the policy denies to the caller', async () => {
    await world().serve(
      {},
      {
        mcp: {
          allowAnyAuthenticatedUser: false,
          policy: {
            allow: { and: [{ user: 'robot' }] },
            deny: { and: [{ mcp_tool: { not_in: ['read'] } }] },
          },
        },
      },
    );
    const call = (name: string) =>
      callMcp(world().mcp, token, { ...PING, method: 'tools/call', params: { name } });
    const [read, write] = [await call('read'), await call('write')];
    await world().serve();
    expect(read.body).toContain('"result"');
    expectJsonRpcError(write, { status: 200, code: 40301, reason: 'mcp-tool-unauthorized', id: 7 });
  });

  const REFUSED: readonly (readonly [string, string])[] = [
    ['a JWT of a stranger', 'malformed-token'],
    ['an external token that nobody issued', 'malformed'],
    ['a refresh token', 'malformed-token'],
  ];
  const VALUES: Readonly<Record<string, string>> = {
    'a JWT of a stranger': 'x',
    'an external token that nobody issued': 'gte_x',
    'a refresh token': 'gtr_x',
  };

  for (const [what, reason] of REFUSED) {
    verifies('bearer.mcp', `refuses ${what}, with the metadata for MCP clients`, async () => {
      let challenge: string | undefined;
      const reasons = await world().reasonsDuring(async () => {
        const answer = await callMcp(world().mcp, VALUES[what] ?? '', PING);
        expectJsonRpcError(answer, { status: 401, code: 40101, reason: 'invalid-token' });
        challenge = answer.headers['www-authenticate'];
      });
      expect(challenge).toMatch(/^Bearer error="invalid_token", resource_metadata="http/);
      expect(reasons).toEqual([reason]);
    });
  }

  verifies('bearer.mcp', 'refuses a call without a token like every MCP route', async () => {
    for (const headers of [{}, { cookie: cookie() }]) {
      const answer = await send(world().mcp, { method: 'POST', body: '{}', headers });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer resource_metadata="http/);
    }
  });

  verifies(
    ['bearer.mcp', 'bearer.cookie-and-token'],
    'refuses a session cookie beside any token, which `default` ignores',
    async () => {
      for (const each of [client.accessToken, token]) {
        const answer = await callMcp(world().mcp, each, PING, { cookie: cookie() });
        expectJsonRpcError(answer, { status: 400, code: 40001, reason: 'cookie-and-bearer-token' });
      }
      await world().serve({}, { mcp: { bearerTokenFormat: 'default' } });
      const ignored = await callMcp(world().mcp, client.accessToken, PING, { cookie: cookie() });
      const jwt = await callMcp(world().mcp, token, PING);
      await world().serve();
      expect([ignored.status, jwt.status]).toEqual([200, 401]);
    },
  );

  verifies('bearer.mcp', 'refuses several Authorization fields', async () => {
    const headers = { ...mcpHeaders(token), authorization: [`Bearer ${token}`, 'Bearer x'] };
    const answer = await send(world().mcp, { method: 'POST', headers, body: '{}' });
    expectJsonRpcError(answer, { status: 400, code: 40001, reason: 'several-authorizations' });
  });
});

describe('The MCP session of a caller with a JWT', () => {
  verifies('bearer.mcp', 'goes on with another token of the same user', async () => {
    const session = await openMcpSession(world().mcp, token);
    const renewed = await world().machines.sign({ sub: 'robot', jti: 'renewed' });
    expect((await callMcp(world().mcp, renewed, PING, session)).status).toBe(200);
  });

  verifies('bearer.mcp', 'is not open to another user, or one of another provider', async () => {
    const session = await openMcpSession(world().mcp, token);
    const other = await world().machines.sign({ sub: 'other-robot' });
    const alice = await world().machines.sign({ sub: 'alice' });
    const ofAlice = await openMcpSession(world().mcp, client.accessToken);
    for (const [each, of] of [
      [other, session],
      [alice, ofAlice],
    ] as const) {
      const answer = await callMcp(world().mcp, each, PING, of);
      expectJsonRpcError(answer, {
        status: 404,
        code: 40401,
        reason: 'mcp-session-not-found',
        id: 7,
      });
    }
  });
});
