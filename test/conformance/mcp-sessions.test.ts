import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { buffer } from 'node:stream/consumers';

import { Sealer } from '../../proxy/crypto/sealer.ts';
import { McpSessions } from '../../proxy/mcp-sessions/mcp-sessions.ts';
import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import type { TestGateway } from '../support/gateway.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { send, type Answer, type RequestOptions } from '../support/http-client.ts';
import { mcpHeaders, signInClient } from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

const INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}';
const LIST = '{"jsonrpc":"2.0","id":7,"method":"tools/list"}';
const NOT_FOUND = { status: 404, code: 40401, reason: 'mcp-session-not-found' };
const LEGACY = '2025-11-25';
const STATELESS = '2026-07-28';

const started = new AsyncDisposableStack();
let world: GatewayWithUsers;
let peer: TestGateway;
let upstream: Upstream;
/** The header fields that the server puts into its responses. */
let answered: Record<string, string | string[]>;
const tokens = new Map<string, string>();

beforeAll(async () => {
  upstream = started.use(
    await startUpstream((message, response) => {
      void buffer(message).then(() => {
        response.writeHead(200, { 'content-type': 'application/json', ...answered });
        response.end('{"jsonrpc":"2.0","id":1,"result":{}}');
      });
    }),
  );
  world = started.use(await startGatewayWithUsers());
  const server = { to: upstream.origin, mcp: { server: {} } };
  await world.configure({
    one: { from: world.originOf('one'), ...server, allowAnyAuthenticatedUser: true },
    two: { from: world.originOf('two'), ...server, allowAnyAuthenticatedUser: true },
  });
  peer = started.use(await world.startPeer());
  for (const [login, name] of [
    ['alice', 'one'],
    ['bob', 'one'],
    ['alice', 'two'],
  ] as const) {
    const { accessToken } = await signInClient(world.originOf(name), { login });
    tokens.set(`${login} at ${name}`, accessToken);
  }
});

beforeEach(() => {
  answered = { 'Mcp-Session-Id': 'of-the-server' };
});

afterAll(() => started.disposeAsync());

/** Sends a request as a user, such as `alice at one`. */
function request(
  who: string,
  sessionId: string | readonly string[] | undefined,
  { method = 'POST', headers, ...options }: RequestOptions = {},
): Promise<Answer> {
  const [, name = ''] = who.split(' at ');
  return send(world.originOf(name), {
    method,
    headers: {
      ...mcpHeaders(tokens.get(who) ?? ''),
      'mcp-session-id': sessionId,
      'mcp-protocol-version': LEGACY,
      ...headers,
    },
    ...(method === 'POST' && { body: LIST }),
    ...options,
  });
}

async function initialize(who: string, options: RequestOptions = {}): Promise<string> {
  const answer = await request(who, undefined, { body: INITIALIZE, ...options });
  expect(answer.status).toBe(200);
  return String(answer.headers['mcp-session-id']);
}

function lastSeen(): unknown {
  return upstream.requests.at(-1)?.message.headers['mcp-session-id'];
}

/** Expects that requests of every method are 404, and that none reaches the server. */
async function expectUnknown(who: string, sessionId: string): Promise<void> {
  const arrivals = upstream.requests.length;
  for (const method of ['POST', 'GET', 'DELETE']) {
    const answer = await request(who, sessionId, { method });
    expectJsonRpcError(answer, { ...NOT_FOUND, id: method === 'POST' ? 7 : null });
  }
  expect(upstream.requests).toHaveLength(arrivals);
}

describe('An MCP session', () => {
  verifies(
    'session.sealed',
    'has a sealed id for its client, and its own id for the server, with every method',
    async () => {
      const sessionId = await initialize('alice at one');
      expect(sessionId).toMatch(/^[\x21-\x7e]+$/);
      expect(sessionId).not.toContain('of-the-server');
      for (const method of ['POST', 'GET', 'DELETE']) {
        const answer = await request('alice at one', sessionId, { method });
        expect(answer).toMatchObject({ status: 200, headers: { 'mcp-session-id': sessionId } });
        expect(lastSeen()).toBe('of-the-server');
      }
    },
  );

  verifies(
    'session.of-its-user',
    'of another user is 404 and never reaches the server',
    async () => {
      await expectUnknown('bob at one', await initialize('alice at one'));
    },
  );

  verifies('session.of-its-user', 'of another route is 404, for the same user too', async () => {
    await expectUnknown('alice at two', await initialize('alice at one'));
  });

  test.each([
    ['that the server would know', 'of-the-server'],
    ['of 12 KiB', 'A'.repeat(12 * 1024)],
    ['beyond ASCII', 'caf\u00e9'],
  ])('with an id %s, which no proxy sealed, is 404', async (_, sessionId) => {
    await expectUnknown('alice at one', sessionId);
  });

  test('with a changed or shortened id is 404', async () => {
    const sessionId = await initialize('alice at one');
    const last = sessionId.endsWith('A') ? 'B' : 'A';
    await expectUnknown('alice at one', sessionId.slice(0, -1) + last);
    await expectUnknown('alice at one', sessionId.slice(0, -4));
    await expectUnknown('alice at one', `${sessionId}=`);
  });

  verifies('session.sealed', 'named twice in one request is refused', async () => {
    const sessionId = await initialize('alice at one');
    const arrivals = upstream.requests.length;
    for (const repeated of [
      [sessionId, sessionId],
      [sessionId, 'other'],
    ]) {
      const answer = await request('alice at one', repeated);
      expectJsonRpcError(answer, {
        status: 400,
        code: 40001,
        id: 7,
        reason: 'repeated-session-id',
      });
    }
    expect(upstream.requests).toHaveLength(arrivals);
  });

  test.each(['Mcp_Session_Id', 'mcp-session_id', 'mcp.session.id'])(
    'cannot be named by the client as %s, which some servers read as the same field',
    async (name) => {
      const sessionId = await initialize('alice at one');
      await request('alice at one', sessionId, { headers: { [name]: 'of-another-user' } });
      const { message } = upstream.requests.at(-1) ?? {};
      expect(message?.headers).not.toHaveProperty([name.toLowerCase()]);
      expect(lastSeen()).toBe('of-the-server');
    },
  );

  verifies('session.sealed', 'that began at one proxy goes on at another', async () => {
    const sessionId = await initialize('alice at one');
    const there = await request('alice at one', sessionId, { through: peer.port });
    expect(there).toMatchObject({ status: 200, headers: { 'mcp-session-id': sessionId } });
    expect(lastSeen()).toBe('of-the-server');
    const stolen = await request('bob at one', sessionId, { through: peer.port });
    expectJsonRpcError(stolen, { ...NOT_FOUND, id: 7 });
  });

  test('that was sealed with a key that is gone is 404, and the log says so', async () => {
    const identity = { provider: 'test', issuer: world.identityProvider.issuer, subject: 'alice' };
    const resource = world.originOf('one');
    const owner = { gatewayId: 'default/gatehouse', resource, identity };
    const sealer = new Sealer([{ secret: Buffer.alloc(32, 1) }]);
    const session = { id: 'of-the-server', takesUrls: false };
    await expectUnknown('alice at one', new McpSessions(sealer).seal(session, owner) ?? '');
    const refused = world.gateway.logs().findLast(({ message }) => message === 'request refused');
    expect(JSON.stringify(refused?.['error'])).toContain('unknown-sealing-key');
  });

  test('has no id in any log', async () => {
    const sessionId = await initialize('alice at one');
    await request('bob at one', sessionId);
    const log = JSON.stringify([world.gateway.logs(), peer.logs()]);
    expect(log).toContain('mcp-session-not-found');
    expect(log).not.toContain(sessionId);
    expect(log).not.toContain('of-the-server');
  });
});

describe('The id that a server gives its session', () => {
  test('may be 2048 characters long', async () => {
    const long = 'x~!'.repeat(683).slice(0, 2048);
    answered = { 'Mcp-Session-Id': long };
    const sessionId = await initialize('alice at one');
    expect((await request('alice at one', sessionId)).status).toBe(200);
    expect(lastSeen()).toBe(long);
  });

  test.each<[string, string | string[]]>([
    ['with a space', 'a b'],
    ['beyond ASCII', 'caf\u00e9'],
    ['of more than 2048 characters', 'x'.repeat(2049)],
    ['that is repeated', ['a', 'b']],
  ])('is refused with 502 if it is one %s', async (_, id) => {
    answered = { 'Mcp-Session-Id': id };
    const answer = await request('alice at one', undefined, { body: INITIALIZE });
    const reason = 'upstream-session-id-invalid';
    expectJsonRpcError(answer, { status: 502, code: 50201, id: 1, reason });
    expect(answer.headers).not.toHaveProperty('mcp-session-id');
  });

  test('is dropped if it is empty', async () => {
    answered = { 'Mcp-Session-Id': '' };
    const answer = await request('alice at one', undefined, { body: INITIALIZE });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('mcp-session-id');
  });

  test('is sealed anew if the server changes it', async () => {
    const first = await initialize('alice at one');
    answered = { 'Mcp-Session-Id': 'the-next' };
    const second = (await request('alice at one', first)).headers['mcp-session-id'];
    expect(second).not.toBe(first);
    await request('alice at one', second);
    expect(lastSeen()).toBe('the-next');
  });
});

verifies(
  'session.none',
  'requests of a revision without sessions carry no session id',
  async () => {
    const sessionId = await initialize('alice at one');
    const headers = { 'mcp-protocol-version': STATELESS, 'mcp-method': 'tools/list' };
    for (const id of [sessionId, 'of-another-user']) {
      const answer = await request('alice at one', id, { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers).not.toHaveProperty('mcp-session-id');
      expect(lastSeen()).toBeUndefined();
    }
  },
);
