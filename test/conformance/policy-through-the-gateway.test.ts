import { once } from 'node:events';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import type { Route } from '../../crds/types.ts';
import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../support/gateway-with-users.ts';
import { membersOf, open, send, type Answer } from '../support/http-client.ts';
import { RawClient } from '../support/raw-http.ts';
import { callMcp, mcpHeaders, signInClient } from '../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { verifies } from '../requirements/verifies.ts';

type Policy = NonNullable<Route['spec']['policy']>;
type Access = Pick<Route['spec'], 'policy' | 'allowAnyAuthenticatedUser'>;

const EXAMPLE_USERS = { and: [{ domain: { is: 'example.com' } }] };
const OK = { status: 200, isDenied: false };

let world: GatewayWithUsers;
let upstream: Upstream;
let mcp: string;
/** Tokens by login. */
const tokens: Record<string, string> = {};

beforeAll(async () => {
  upstream = await startUpstream((message, response) => {
    message.resume();
    if (message.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    } else response.end('{"jsonrpc":"2.0","id":1,"result":{}}');
  });
  world = await startGatewayWithUsers();
  mcp = world.originOf('mcp');
  await serve({ policy: { allow: EXAMPLE_USERS } });
  for (const login of ['alice', 'carol']) {
    tokens[login] = (await signInClient(mcp, { login })).accessToken;
  }
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Serves the route with another policy from now on. */
async function serve(access: Access): Promise<void> {
  await world.configure({
    mcp: { from: mcp, to: upstream.origin, mcp: { server: {} }, ...access },
  });
}

function toolNotification(name: string): object {
  return { jsonrpc: '2.0', method: 'tools/call', params: { name, arguments: {} } };
}

function toolCall(name: string, id: number | string = 7): object {
  return { ...toolNotification(name), id };
}

function ask(message: object, login = 'alice'): Promise<Answer> {
  return callMcp(mcp, tokens[login] ?? '', message);
}

async function outcomeOf(message: object, login = 'alice'): Promise<typeof OK> {
  const before = upstream.requests.length;
  const answer = await ask(message, login);
  const isDenied = membersOf(answer)['error'] !== undefined;
  expect(upstream.requests).toHaveLength(before + (isDenied ? 0 : 1));
  return { status: answer.status, isDenied };
}

/** A denial for the model: an answer to the call, on a connection that goes on. */
function expectDeniedCall(answer: Answer, id: number | string): void {
  const reason = 'mcp-tool-unauthorized';
  expectJsonRpcError(answer, { status: 200, code: 40301, id, reason });
}

/** A denial for the client. `insufficient_scope` would make SDKs start another login. */
function expectForbidden(answer: Answer, id: number | string | null, reason: string): void {
  expectJsonRpcError(answer, { status: 403, code: 40301, id, reason });
  expect(answer.headers).not.toHaveProperty('www-authenticate');
  expect(answer.body).not.toContain('insufficient_scope');
}

const LIST = { jsonrpc: '2.0', id: 'list-1', method: 'tools/list' };

describe('mcp_tool under deny', () => {
  const policy: Policy = {
    allow: EXAMPLE_USERS,
    deny: { and: [{ mcp_tool: { starts_with: 'delete_' } }, { groups: { not_in: ['admins'] } }] },
  };

  verifies(
    ['errors.tool-denied', 'policy.tool-name-of-payload'],
    'answers a call of the tool with a JSON-RPC error of status 200, under its id',
    async () => {
      await serve({ policy });
      for (const id of [7, 0, -1, 1.5, 'seven', '']) {
        const before = upstream.requests.length;
        expectDeniedCall(await ask(toolCall('delete_invoice', id)), id);
        expect(upstream.requests).toHaveLength(before);
      }
    },
  );

  verifies('errors.tool-denied', 'forbids a call of the tool that asks for no answer', async () => {
    await serve({ policy });
    const denied = await ask(toolNotification('delete_invoice'));
    expectForbidden(denied, null, 'mcp-tool-unauthorized');
  });

  verifies(
    ['policy.deny-spares-other-methods', 'policy.tool-only-for-calls'],
    'lets everything through that calls no tool',
    async () => {
      await serve({ policy });
      const messages = [
        ...[LIST, { ...LIST, method: 'initialize' }, { ...LIST, method: 'resources/list' }],
        { ...LIST, method: 'prompts/get', params: { name: 'delete_invoice' } },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 1, result: {} },
        toolCall('get_invoice'),
      ];
      for (const message of messages) expect(await outcomeOf(message)).toEqual(OK);
      expect(
        (await send(mcp, { method: 'DELETE', headers: mcpHeaders(tokens['alice'] ?? '') })).status,
      ).toBe(200);
    },
  );

  verifies(
    'policy.groups-of-criteria',
    'lets those call the tool whom it does not name',
    async () => {
      await serve({ policy });
      expect(await outcomeOf(toolCall('delete_invoice'), 'carol')).toEqual(OK);
    },
  );

  verifies('policy.operator-not-in', 'with not_in is a list of what may be called', async () => {
    await serve({
      policy: { allow: EXAMPLE_USERS, deny: { or: [{ mcp_tool: { not_in: ['a', 'b'] } }] } },
    });
    expect(await outcomeOf(toolCall('b'))).toEqual(OK);
    expect(await outcomeOf(LIST)).toEqual(OK);
    expectDeniedCall(await ask(toolCall('c')), 7);
  });
});

describe('mcp_tool under allow', () => {
  verifies(
    ['policy.allow-needs-other-clauses', 'policy.tool-only-for-calls'],
    'alone forbids everything that calls no tool',
    async () => {
      await serve({ policy: { allow: { or: [{ mcp_tool: { is: 'echo' } }] } } });
      expect(await outcomeOf(toolCall('echo'))).toEqual(OK);
      expectDeniedCall(await ask(toolCall('other')), 7);
      expectForbidden(await ask(LIST), 'list-1', 'mcp-tool-unauthorized');
      expectForbidden(await ask({ jsonrpc: '2.0', method: 'x' }), null, 'mcp-tool-unauthorized');
      expectForbidden(
        await ask({ jsonrpc: '2.0', id: 1, result: {} }),
        null,
        'mcp-tool-unauthorized',
      );
      for (const method of ['GET', 'DELETE']) {
        const headers = mcpHeaders(tokens['alice'] ?? '');
        expectForbidden(await send(mcp, { method, headers }), null, 'mcp-tool-unauthorized');
      }
    },
  );

  verifies(
    ['policy.allow-needs-other-clauses', 'policy.groups-of-criteria'],
    'beside another group of criteria adds to what that one allows',
    async () => {
      const allow = { and: [{ groups: { has: 'admins' } }], or: [{ mcp_tool: { is: 'echo' } }] };
      await serve({ policy: { allow } });
      expect(await outcomeOf(toolCall('echo'))).toEqual(OK);
      expectDeniedCall(await ask(toolCall('other')), 7);
      expect(await outcomeOf(toolCall('other'), 'carol')).toEqual(OK);
      expect(await outcomeOf(LIST, 'carol')).toEqual(OK);
    },
  );

  verifies('policy.groups-of-criteria', 'does not help against deny', async () => {
    await serve({
      policy: {
        allow: { and: [{ mcp_tool: { is: 'echo' } }] },
        deny: { or: [{ mcp_tool: { is: 'echo' } }] },
      },
    });
    expectDeniedCall(await ask(toolCall('echo')), 7);
  });
});

describe('A user whom no policy allows', () => {
  const NOBODY: readonly (readonly [string, Access, string])[] = [
    [
      'by e-mail',
      { policy: { allow: { or: [{ email: 'carol@example.com' }] } } },
      'email-unauthorized',
    ],
    [
      'whatever the tool',
      {
        policy: {
          allow: { and: [{ groups: { has: 'admins' } }, { mcp_tool: { not_in: ['delete'] } }] },
        },
      },
      'groups-unauthorized',
    ],
    [
      'by a denial',
      { policy: { allow: EXAMPLE_USERS, deny: { or: [{ user: 'alice' }] } } },
      'denied',
    ],
    ['because there is none', {}, 'not-allowed'],
  ];

  for (const [what, access, reason] of NOBODY) {
    verifies(
      'route.policy',
      `${what}, is forbidden everything, and never asked to log in again`,
      async () => {
        await serve(access);
        const before = upstream.requests.length;
        expectForbidden(await ask(toolCall('echo')), 7, reason);
        expectForbidden(await ask(LIST), 'list-1', reason);
        expectForbidden(await ask({ jsonrpc: '2.0', method: 'x' }), null, reason);
        expect(upstream.requests).toHaveLength(before);
      },
    );
  }
});

describe('Any authenticated user', () => {
  verifies('route.policy', 'is allowed where the route says so, unless denied', async () => {
    await serve({ allowAnyAuthenticatedUser: true });
    expect(await outcomeOf(toolCall('echo'))).toEqual(OK);
    await serve({
      allowAnyAuthenticatedUser: true,
      policy: { deny: { or: [{ mcp_tool: { is: 'echo' } }] } },
    });
    expectDeniedCall(await ask(toolCall('echo')), 7);
    expect(await outcomeOf(toolCall('other'))).toEqual(OK);
  });
});

verifies(
  [
    'policy.operator-is',
    'policy.operator-starts-with',
    'policy.operator-ends-with',
    'policy.operator-contains',
    'policy.operator-in',
    'policy.operator-not-in',
  ],
  'Every operator of mcp_tool permits the tools it matches, and no other',
  async () => {
    const tools = ['get_invoice', 'get', 'xget_invoicex', 'GET_INVOICE', 'list'];
    const operators: readonly (readonly [object, readonly string[]])[] = [
      [{ is: 'get_invoice' }, ['get_invoice']],
      [{ starts_with: 'get' }, ['get_invoice', 'get']],
      [{ ends_with: 'invoice' }, ['get_invoice']],
      [{ contains: 'get_' }, ['get_invoice', 'xget_invoicex']],
      [{ in: ['get', 'list'] }, ['get', 'list']],
      [{ not_in: ['get', 'list'] }, ['get_invoice', 'xget_invoicex', 'GET_INVOICE']],
    ];
    for (const [matcher, permitted] of operators) {
      await serve({ policy: { allow: { and: [{ mcp_tool: matcher }] } } });
      const passed: string[] = [];
      for (const name of tools) {
        if (!(await outcomeOf(toolCall(name))).isDenied) passed.push(name);
      }
      expect({ matcher, passed }).toEqual({ matcher, passed: permitted });
    }
  },
);

describe('A policy that changes', () => {
  verifies(
    'mcp.policy-on-every-request',
    'holds from the next request on, while a stream under way goes on',
    async () => {
      await serve({ policy: { allow: EXAMPLE_USERS } });
      const index = upstream.requests.length;
      const stream = await open(mcp, { headers: mcpHeaders(tokens['alice'] ?? '') });
      await once(stream, 'data');
      await serve({ policy: { allow: { or: [{ email: 'carol@example.com' }] } } });

      expectForbidden(await ask(LIST), 'list-1', 'email-unauthorized');
      const { response } = await upstream.request(index);
      response.write('data: 2\n\n');
      const [event] = (await once(stream, 'data')) as [Buffer];
      expect(event.toString()).toBe('data: 2\n\n');
      stream.destroy();

      await serve({ policy: { allow: EXAMPLE_USERS } });
      expect(await outcomeOf(LIST)).toEqual(OK);
    },
  );

  verifies('mcp.policy-on-every-request', 'holds within a connection too', async () => {
    const body = JSON.stringify(toolCall('echo'));
    const fields = Object.entries({
      host: new URL(mcp).host,
      ...mcpHeaders(tokens['alice'] ?? ''),
      'content-length': String(body.length),
    }).map(([name, value]) => `${name}: ${value}`);
    const request = ['POST / HTTP/1.1', ...fields, '', body].join('\r\n');
    await using connection = await RawClient.connect(world.gateway.port);
    const denials: boolean[] = [];
    for (const deny of [undefined, { or: [{ mcp_tool: { is: 'echo' } }] }, undefined]) {
      await serve({ policy: { allow: EXAMPLE_USERS, ...(deny && { deny }) } });
      connection.send(request);
      denials.push((await connection.response()).body.includes('40301'));
    }
    expect(denials).toEqual([false, true, false]);
  });
});
