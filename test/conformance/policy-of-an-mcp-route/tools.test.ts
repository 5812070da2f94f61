import { describe, expect, test } from '@jest/globals';

import type { Route } from '../../../crds/types.ts';
import { expectJsonRpcError } from '../../support/expect-json-rpc-error.ts';
import { openForAll } from '../../support/open-for-all.ts';
import {
  EXAMPLE_USERS,
  expectDeniedCall,
  expectForbidden,
  LIST,
  OK,
  startPolicyWorld,
  toolCall,
  toolNotification,
} from '../../support/policy-world.ts';
import { verifies } from '../../requirements/verifies.ts';

type Policy = NonNullable<Route['spec']['policy']>;

const world = openForAll(startPolicyWorld);

describe('mcp_tool under deny', () => {
  const policy: Policy = {
    allow: EXAMPLE_USERS,
    deny: { and: [{ mcp_tool: { starts_with: 'delete_' } }, { groups: { not_in: ['admins'] } }] },
  };

  verifies(
    ['errors.tool-denied', 'policy.tool-name-of-payload'],
    'a denied call of a tool gets a JSON-RPC error with its id and status 200',
    async () => {
      await world().serve({ policy });
      for (const id of [7, 0, -1, 1.5, 'seven', '']) {
        const before = world().upstream.requests.length;
        expectDeniedCall(await world().ask(toolCall('delete_invoice', id)), id);
        expect(world().upstream.requests).toHaveLength(before);
      }
    },
  );

  verifies('errors.tool-denied', 'a denied call of a tool without an id gets 403', async () => {
    await world().serve({ policy });
    const denied = await world().ask(toolNotification('delete_invoice'));
    expectForbidden(denied, null, 'mcp-tool-unauthorized');
  });

  verifies(
    ['policy.deny-spares-other-methods', 'policy.tool-only-for-calls'],
    'a message that calls no tool is permitted',
    async () => {
      await world().serve({ policy });
      const messages = [
        ...[LIST, { ...LIST, method: 'initialize' }, { ...LIST, method: 'resources/list' }],
        { ...LIST, method: 'prompts/get', params: { name: 'delete_invoice' } },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 1, result: {} },
        toolCall('get_invoice'),
      ];
      for (const message of messages) expect(await world().outcomeOf(message)).toEqual(OK);
      expect((await world().request('DELETE')).status).toBe(200);
    },
  );

  verifies(
    'policy.groups-of-criteria',
    'a user who does not meet the criteria of deny may call the tool',
    async () => {
      await world().serve({ policy });
      expect(await world().outcomeOf(toolCall('delete_invoice'), 'carol')).toEqual(OK);
    },
  );

  verifies(
    'policy.operator-not-in',
    'not_in under deny permits the calls that it lists',
    async () => {
      await world().serve({
        policy: { allow: EXAMPLE_USERS, deny: { or: [{ mcp_tool: { not_in: ['a', 'b'] } }] } },
      });
      expect(await world().outcomeOf(toolCall('b'))).toEqual(OK);
      expect(await world().outcomeOf(LIST)).toEqual(OK);
      expectDeniedCall(await world().ask(toolCall('c')), 7);
    },
  );
});

describe('mcp_tool under allow', () => {
  verifies(
    ['policy.allow-needs-other-clauses', 'policy.tool-only-for-calls'],
    'mcp_tool alone forbids everything but calls of its tools',
    async () => {
      await world().serve({ policy: { allow: { or: [{ mcp_tool: { is: 'echo' } }] } } });
      expect(await world().outcomeOf(toolCall('echo'))).toEqual(OK);
      expectDeniedCall(await world().ask(toolCall('other')), 7);
      expectForbidden(await world().ask(LIST), 'list-1', 'mcp-tool-unauthorized');
      expectForbidden(
        await world().ask({ jsonrpc: '2.0', method: 'x' }),
        null,
        'mcp-tool-unauthorized',
      );
      expectForbidden(
        await world().ask({ jsonrpc: '2.0', id: 1, result: {} }),
        null,
        'mcp-tool-unauthorized',
      );
      for (const method of ['GET', 'DELETE']) {
        expectForbidden(await world().request(method), null, 'mcp-tool-unauthorized');
      }
    },
  );

  verifies(
    ['policy.allow-needs-other-clauses', 'policy.groups-of-criteria'],
    'mcp_tool beside another group of criteria permits calls in addition',
    async () => {
      const allow = { and: [{ groups: { has: 'admins' } }], or: [{ mcp_tool: { is: 'echo' } }] };
      await world().serve({ policy: { allow } });
      expect(await world().outcomeOf(toolCall('echo'))).toEqual(OK);
      expectDeniedCall(await world().ask(toolCall('other')), 7);
      expect(await world().outcomeOf(toolCall('other'), 'carol')).toEqual(OK);
      expect(await world().outcomeOf(LIST, 'carol')).toEqual(OK);
    },
  );

  verifies(
    'policy.groups-of-criteria',
    'mcp_tool under allow does not permit a tool that deny blocks',
    async () => {
      await world().serve({
        policy: {
          allow: { and: [{ mcp_tool: { is: 'echo' } }] },
          deny: { or: [{ mcp_tool: { is: 'echo' } }] },
        },
      });
      expectDeniedCall(await world().ask(toolCall('echo')), 7);
    },
  );
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
  'every operator of mcp_tool permits the tools it matches, and no others',
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
      await world().serve({ policy: { allow: { and: [{ mcp_tool: matcher }] } } });
      const passed: string[] = [];
      for (const name of tools) {
        if (!(await world().outcomeOf(toolCall(name))).isDenied) passed.push(name);
      }
      expect({ matcher, passed }).toEqual({ matcher, passed: permitted });
    }
  },
);

// Attack: a thousand criteria that read a name of a megabyte stalled all routes for 15 seconds.
test('the name of a tool has at most 256 characters where the policy names tools', async () => {
  const longest = 'a'.repeat(256);
  await world().serve({ policy: { allow: { or: [{ mcp_tool: { starts_with: 'a' } }] } } });
  expect(await world().outcomeOf(toolCall(longest))).toEqual(OK);
  const before = world().upstream.requests.length;
  const refused = await world().ask(toolCall(`${longest}a`));
  expectJsonRpcError(refused, { status: 400, code: -32602, id: 7 });
  expect(world().upstream.requests).toHaveLength(before);
  await world().serve({ policy: { allow: EXAMPLE_USERS } });
  expect(await world().outcomeOf(toolCall(`${longest}a`))).toEqual(OK);
});
