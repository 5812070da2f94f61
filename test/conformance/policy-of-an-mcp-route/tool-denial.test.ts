import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import type { GatewaySettings, Route } from '../../../crds/types.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from '../../support/gateway-with-users.ts';
import { membersOf } from '../../support/http-client.ts';
import { emptyResult } from '../../support/mcp-route.ts';
import {
  EXAMPLE_USERS,
  expectDeniedCall,
  expectForbidden,
  toolCall,
  toolNotification,
} from '../../support/policy-world.ts';
import { callMcp, signInClient } from '../../support/signed-in-client.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';
import { verifies } from '../../requirements/verifies.ts';

type ToolDenial = NonNullable<GatewaySettings['spec']['toolDenial']>;

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const POLICY: NonNullable<Route['spec']['policy']> = {
  allow: EXAMPLE_USERS,
  deny: { or: [{ mcp_tool: { is: 'drop' } }, { groups: { has: 'admins' } }] },
};

const SUB_PATHS = [{ path: '/messages' }];

const started = new AsyncDisposableStack();
let world: GatewayWithUsers;
let upstream: Upstream;
let mcp: string;
let alice: string;
let carol: string;

beforeAll(async () => {
  upstream = started.use(
    await startUpstream((message, response) => {
      message.resume();
      emptyResult(message, response);
    }),
  );
  world = started.use(await startGatewayWithUsers());
  mcp = world.originOf('mcp');
  await serve({});
  alice = (await signInClient(mcp)).accessToken;
  carol = (await signInClient(mcp, { login: 'carol' })).accessToken;
});

afterAll(() => started.disposeAsync());

function serve(of: { readonly route?: ToolDenial; readonly settings?: ToolDenial }): Promise<void> {
  const server = { subPaths: SUB_PATHS, ...(of.route && { toolDenial: of.route }) };
  return world.configure(
    { mcp: { from: mcp, to: upstream.origin, mcp: { server }, policy: POLICY } },
    of.settings === undefined ? {} : { toolDenial: of.settings },
  );
}

describe('A denied tool call', () => {
  for (const [route, settings, answeredAs] of [
    [undefined, undefined, 'error'],
    [undefined, 'error', 'error'],
    [undefined, 'result', 'result'],
    ['error', 'result', 'error'],
    ['result', 'error', 'result'],
    ['result', undefined, 'result'],
  ] as const) {
    verifies(
      'policy.tool-denial',
      `a denied call is answered as ${answeredAs} if the route says ${String(route)} and the settings say ${String(settings)}`,
      async () => {
        await serve({ ...(route && { route }), ...(settings && { settings }) });
        const denied = await callMcp(mcp, alice, toolCall('drop', 'call-1'));
        if (answeredAs === 'error') expectDeniedCall(denied, 'call-1');
        else expect(membersOf(denied)).toMatchObject({ result: { isError: true } });
        expect((await callMcp(mcp, alice, toolCall('read'))).status).toBe(200);
      },
    );
  }

  verifies(
    'policy.tool-denial',
    'a result has the text and the reason of the error, and the id of the request in the log',
    async () => {
      await serve({});
      const { error } = membersOf(await callMcp(mcp, alice, toolCall('drop')));
      await serve({ route: 'result' });
      const before = upstream.requests.length;
      for (const id of [7, 0, 'seven', '']) {
        const denied = await callMcp(mcp, alice, toolCall('drop', id));
        const requestId = denied.headers['x-request-id'];
        expect(denied.status).toBe(200);
        expect(denied.headers['content-type']).toBe('application/json');
        expect(membersOf(denied)).toEqual({
          ...{ jsonrpc: '2.0', id },
          result: {
            content: [{ type: 'text', text: (error as { message: string }).message }],
            isError: true,
            _meta: {
              'dev.gatehouse/reason': 'mcp-tool-unauthorized',
              'dev.gatehouse/request_id': requestId,
            },
          },
        });
        expect(world.gateway.decisions().at(-1)).toMatchObject({
          ...{ 'request-id': requestId, allow: false },
          'allow-why-false': ['mcp-tool-unauthorized'],
        });
      }
      expect(upstream.requests).toHaveLength(before);
    },
  );

  verifies(
    ['policy.tool-denial', 'transport.both-eras'],
    'a result of revision 2026-07-28 says that it is complete, and one of an earlier revision does not',
    async () => {
      await serve({ route: 'result' });
      for (const [version, resultType] of [
        ['2026-07-28', 'complete'],
        ['2027-01-01', 'complete'],
        ['2025-11-25', undefined],
      ] as const) {
        const params = { name: 'drop', arguments: {}, _meta: { [VERSION_KEY]: version } };
        const denied = await callMcp(
          mcp,
          alice,
          { ...toolCall('drop'), params },
          {
            ...{ 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'drop' },
          },
        );
        const { result } = membersOf(denied);
        expect(result).toMatchObject({ isError: true });
        expect((result as { resultType?: string }).resultType).toBe(resultType);
      }
    },
  );

  verifies(
    ['policy.tool-denial', 'errors.tool-denied'],
    'a client of the old transport gets a 403 at once, since it reads no response to its POST',
    async () => {
      for (const route of ['error', 'result'] as const) {
        await serve({ route });
        const url = `${mcp}/messages`;
        for (const accept of [undefined, '*/*', 'application/json']) {
          const denied = await callMcp(url, alice, toolCall('drop'), { accept });
          expectForbidden(denied, 7, 'mcp-tool-unauthorized');
        }
        expect((await callMcp(url, alice, toolCall('drop'))).status).toBe(200);
        expect((await callMcp(mcp, alice, toolCall('drop'), { accept: '*/*' })).status).toBe(200);
      }
    },
  );

  verifies(
    'policy.tool-denial',
    'every other denial stays an error, since no tool could be permitted, or nobody reads a result',
    async () => {
      await serve({ route: 'result' });
      const denied = await callMcp(mcp, alice, toolNotification('drop'));
      expectForbidden(denied, null, 'mcp-tool-unauthorized');
      expectForbidden(await callMcp(mcp, carol, toolCall('read')), 7, 'denied');
      const list = { jsonrpc: '2.0', id: 7, method: 'tools/list' };
      expectForbidden(await callMcp(mcp, carol, list), 7, 'denied');
    },
  );
});
