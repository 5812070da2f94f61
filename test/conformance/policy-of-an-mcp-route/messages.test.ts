import { describe, expect } from '@jest/globals';

import { expectJsonRpcError } from '../../support/expect-json-rpc-error.ts';
import { send } from '../../support/http-client.ts';
import { openForAll } from '../../support/open-for-all.ts';
import {
  EXAMPLE_USERS,
  expectDeniedCall,
  expectForbidden,
  OK,
  startPolicyWorld,
} from '../../support/policy-world.ts';
import { verifies } from '../../requirements/verifies.ts';

const world = openForAll(startPolicyWorld);

const message = (method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id: 7,
  method,
  params,
});

describe('A policy about arguments of tools', () => {
  const ONLY_ANALYTICS = {
    allow: EXAMPLE_USERS,
    deny: {
      and: [{ mcp_tool: 'query' }, { 'mcp_tool_argument/database': { not_in: ['analytics'] } }],
    },
  };
  const query = (args: object): object => message('tools/call', { name: 'query', arguments: args });

  verifies('policy.tool-arguments', 'a tool runs with the permitted argument only', async () => {
    await world().serve({ policy: ONLY_ANALYTICS });
    expect(await world().outcomeOf(query({ database: 'analytics', sql: 'select 1' }))).toEqual(OK);
    for (const args of [
      { database: 'billing' },
      {},
      { database: null },
      { database: ['analytics'] },
      { database: 'analytics', Database: 'billing' },
    ]) {
      expectDeniedCall(await world().ask(query(args)), 7);
    }
    expectDeniedCall(await world().ask(message('tools/call', { name: 'query' })), 7);
    expect(await world().outcomeOf(message('tools/call', { name: 'list' }))).toEqual(OK);
    expect(await world().outcomeOf(message('tools/list'))).toEqual(OK);
  });

  verifies(
    'policy.tool-arguments',
    'a number that parsers round differently is refused where a policy reads arguments',
    async () => {
      const rounded =
        '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"query","arguments":{"database":"analytics","limit":0.99999999999999999999}}}';
      await world().serve({ policy: ONLY_ANALYTICS });
      const request = { method: 'POST', headers: world().headersOf('alice'), body: rounded };
      const refused = await send(world().mcp, request);
      expectJsonRpcError(refused, { status: 400, code: -32602, id: 7 });
      await world().serve({ policy: { allow: EXAMPLE_USERS } });
      expect((await send(world().mcp, request)).status).toBe(200);
    },
  );
});

describe('A policy about methods, resources and prompts', () => {
  verifies('policy.mcp-subjects', 'each denies its messages, and no other', async () => {
    await world().serve({
      policy: {
        allow: EXAMPLE_USERS,
        deny: {
          or: [
            { mcp_method: 'logging/setLevel' },
            { mcp_resource: { starts_with: 'file:///secret/' } },
            { mcp_prompt: 'admin' },
          ],
        },
      },
    });
    const resource = (uri: string): object => message('resources/read', { uri });
    for (const denied of [
      message('logging/setLevel', { level: 'debug' }),
      resource('file:///secret/key'),
      resource('FILE:///%73ecret/key'),
      resource('file:///secret/key?a'),
      message('resources/subscribe', { uri: 'file:///secret/key' }),
      message('resources/unsubscribe', { uri: 'file:///secret/key' }),
      message('subscriptions/listen', {
        notifications: { resourceSubscriptions: ['file:///a', 'file:///secret/key'] },
      }),
      message('completion/complete', { ref: { type: 'ref/resource', uri: 'file:///secret/{x}' } }),
      message('prompts/get', { name: 'admin' }),
      message('completion/complete', { ref: { type: 'ref/prompt', name: 'admin' } }),
    ]) {
      expectForbidden(await world().ask(denied), 7, 'denied');
    }
    for (const permitted of [
      message('tools/list'),
      resource('file:///public/key'),
      message('subscriptions/listen', { notifications: {} }),
      message('subscriptions/listen', { notifications: { resourceSubscriptions: ['file:///a'] } }),
      message('prompts/get', { name: 'review' }),
      message('completion/complete', { ref: { type: 'ref/prompt', name: 'review' } }),
      message('tools/call', { name: 'admin', uri: 'file:///secret/key' }),
    ]) {
      expect(await world().outcomeOf(permitted)).toEqual(OK);
    }
    expect((await world().request('DELETE')).status).toBe(200);
  });

  const RESOURCES = { allow: EXAMPLE_USERS, deny: { or: [{ mcp_resource: 'file:///secret' }] } };
  const AMBIGUOUS: readonly (readonly [string, object])[] = [
    ['resources/read', {}],
    ['resources/read', { uri: 7 }],
    ['resources/read', { uri: 'file:///a', URI: 'file:///secret' }],
    ['resources/read', { uri: 'file:///a/../secret' }],
    ['resources/read', { uri: 'file:///a/%2e%2E/secret' }],
    ['resources/read', { uri: `file:///${'a'.repeat(2_048)}` }],
    ['resources/read', { uri: 'file:///secret\0' }],
    ['resources/read', { uri: 'file:///secret%00' }],
    ['prompts/get', { name: ['admin'] }],
    ['completion/complete', {}],
    ['completion/complete', { ref: { type: 'ref/other', uri: 'file:///secret' } }],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'file:///a' }, Ref: { uri: 'file:///secret' } },
    ],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'file:///a', Uri: 'x' } }],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: 'file:///secret' } }],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: [7] } }],
    ['subscriptions/listen', { notifications: [] }],
    ['subscriptions/listen', { Notifications: { resourceSubscriptions: ['file:///secret'] } }],
  ];

  for (const [method, params] of AMBIGUOUS) {
    verifies(
      'policy.mcp-subjects',
      `${method} with ${JSON.stringify(params).slice(0, 80)} is refused where a policy reads resources or prompts`,
      async () => {
        await world().serve({ policy: RESOURCES });
        const refused = await world().ask(message(method, params));
        expect({ status: refused.status, sent: refused.body.includes('"code":-326') }).toEqual({
          status: 400,
          sent: true,
        });
      },
    );
  }

  verifies('policy.mcp-subjects', 'where no policy reads them, the server decides', async () => {
    await world().serve({ policy: { allow: EXAMPLE_USERS } });
    expect(await world().outcomeOf(message('resources/read'))).toEqual(OK);
    expect(await world().outcomeOf(message('completion/complete'))).toEqual(OK);
  });
});
