import { describe, expect } from '@jest/globals';

import { expectJsonRpcError } from '../../support/expect-json-rpc-error.ts';
import { openForAll } from '../../support/open-for-all.ts';
import {
  EXAMPLE_USERS,
  expectDeniedCall,
  OK,
  startPolicyWorld,
  toolCall,
} from '../../support/policy-world.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startPolicyWorld);

const DENIES_A_TOOL = {
  allow: EXAMPLE_USERS,
  deny: { or: [{ mcp_tool: { is: 'drop_table' } }] },
};
const POLICIES = [
  DENIES_A_TOOL,
  { allow: { ...EXAMPLE_USERS, or: [{ mcp_tool: { is: 'list' } }] } },
];

const LOOK_ALIKES = [
  ...['Tools/Call', 'TOOLS/CALL', 'tools/Call', 'tools//call', '/tools/call', 'tools/call/'],
  ...['tools/call ', ' tools/call', 'tools /call', 'tools/call\t', 'tools/call\n', 'tools/call\r'],
  ...[
    'tools\\call',
    'tools%2Fcall',
    'tools%2fcall',
    '%74ools/call',
    'tools/c%61ll',
    'tools/call%00',
  ],
  ...[
    'tools.call',
    'tools:call',
    'tools_call',
    'tools-call',
    'toolscall',
    'toolsCall',
    './tools/call',
  ],
  ...['tools/call;', 'tools/call?', 'tools/call#', 'tools/./call', '"tools/call"'],
  // Full width, long s, Cyrillic letters, division slash, fraction slash, zero width, soft hyphen, mark.
  ...[
    '\uff54ools/call',
    'tool\u017f/call',
    't\u043eols/call',
    'tools/\u0441all',
    'tools\u2215call',
  ],
  ...[
    'tools\u2044call',
    'tools\uff0fcall',
    'tools/\u200bcall',
    'tools/ca\u00adll',
    '\ufefftools/call',
  ],
  ...[
    'tools/call\u00a0',
    'tools/call\u3000',
    'tools/call\u0301',
    'tools/ca\u2113l',
    'tools\u0001/call',
  ],
];

describe('A method that only looks like tools/call', () => {
  for (const [index, policy] of POLICIES.entries()) {
    verifies(
      'policy.method-names',
      `a method that a server could take for tools/call is refused under ${JSON.stringify(policy)}`,
      async () => {
        await world().serve({ policy });
        const before = world().upstream.requests.length;
        for (const method of LOOK_ALIKES) {
          for (const id of [index, undefined]) {
            const refused = await world().ask({ ...toolCall('drop_table'), method, id });
            expectJsonRpcError(refused, { status: 400, code: -32600, id: id ?? null });
          }
        }
        expect(world().upstream.requests).toHaveLength(before);
      },
    );
  }

  verifies(
    'policy.method-names',
    'every other method is the server’s to know, and so are all where no policy names tools',
    async () => {
      const others = [
        ...[
          'initialize',
          'tools/list',
          'tools/call/x',
          'x/tools/call',
          'notifications/tools/called',
        ],
        ...['prompts/get', '$/cancelRequest', 'com.example/Custom_method-2', 'rpc.discover', 'x:y'],
      ];
      await world().serve({ policy: DENIES_A_TOOL });
      for (const method of others) {
        expect(await world().outcomeOf({ jsonrpc: '2.0', id: 1, method })).toEqual(OK);
      }
      await world().serve({ policy: { allow: EXAMPLE_USERS } });
      for (const method of [...others, 'Tools/Call', 'größe/lesen', 'a b']) {
        expect(await world().outcomeOf({ jsonrpc: '2.0', id: 1, method })).toEqual(OK);
      }
    },
  );
});

describe('A call of a tool that is continued', () => {
  verifies(
    ['policy.tool-name-of-payload', 'policy.tool-only-for-calls'],
    'each retry with the input that the server asked for is decided again, and so is a call as a task',
    async () => {
      await world().serve({ policy: DENIES_A_TOOL });
      const state = { inputResponses: { name: { action: 'accept' } }, requestState: 'opaque' };
      for (const members of [state, { task: { ttl: 1000 } }]) {
        for (const [name, isPermitted] of [
          ['list', true],
          ['drop_table', false],
        ] as const) {
          const params = { name, arguments: {}, ...members };
          const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params };
          if (isPermitted) expect(await world().outcomeOf(call)).toEqual(OK);
          else expectDeniedCall(await world().ask(call), 7);
        }
      }
    },
  );

  verifies(
    'policy.tool-only-for-calls',
    'the messages about a task that a permitted call began name no tool, and are permitted',
    async () => {
      await world().serve({ policy: DENIES_A_TOOL });
      for (const method of ['tasks/get', 'tasks/update', 'tasks/result', 'tasks/cancel']) {
        const params = { taskId: 'task-1', name: 'drop_table' };
        const outcome = await world().outcomeOf({ jsonrpc: '2.0', id: 7, method, params });
        expect({ method, ...outcome }).toEqual({ method, ...OK });
      }
    },
  );
});
