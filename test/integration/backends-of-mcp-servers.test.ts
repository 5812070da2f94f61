import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from '@jest/globals';

import type {
  CompiledResource,
  CompiledService,
  Snapshot,
} from '../../shared/snapshot/snapshot.ts';
import { aSnapshot } from '../support/compiled-resources.ts';
import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import {
  manifestsWithUsers,
  startGatewayWithUsers,
  type GatewayWithUsers,
} from '../support/gateway-with-users.ts';
import { compileManifests } from '../support/gateway.ts';
import { send } from '../support/http-client.ts';
import { callMcp, signInClient } from '../support/signed-in-client.ts';
import { startStatefulMcpServer } from '../support/stateful-mcp-server.ts';
import { FILES, filesAt } from '../support/files-service.ts';

/** Returns the snapshot with a Service behind its only route. */
function behindService({ resources }: Snapshot, service: CompiledService): Snapshot {
  const values = [...resources.values()].map(({ value }): CompiledResource => {
    return value.kind === 'route' ? { ...value, backends: [FILES] } : value;
  });
  return aSnapshot(...values, service);
}

/** Serves an MCP route for signed-in users to one Service, and returns its URL. */
async function serveMcp(world: GatewayWithUsers, service: CompiledService): Promise<string> {
  const from = world.gateway.origin;
  const to = 'http://files.team.svc:8080';
  const routes = { mcp: { from, to, mcp: { server: {} }, allowAnyAuthenticatedUser: true } };
  await world.configure(routes);
  const snapshot = compileManifests(manifestsWithUsers(routes, {}, world.identityProvider));
  await world.gateway.gateway.apply(behindService(snapshot, service));
  return from;
}

describe('An MCP server with several targets that have sessions', () => {
  test('the proxy sends each client to the target with its session', async () => {
    await using one = await startStatefulMcpServer('one');
    await using two = await startStatefulMcpServer('two');
    await using world = await startGatewayWithUsers();
    const url = await serveMcp(world, filesAt(one, two));
    for (const login of ['alice', 'bob', 'carol']) {
      const { accessToken } = await signInClient(url, { login });
      const client = new Client({ name: 'backends-test', version: '1.0.0' });
      const requestInit = { headers: { authorization: `Bearer ${accessToken}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      const names = new Set<string>();
      for (let call = 0; call < 10; call += 1) {
        names.add(JSON.stringify((await client.callTool({ name: 'whoami' })).content));
      }
      expect(names.size).toBe(1);
      await client.close();
    }
    expect(one.sessions() + two.sessions()).toBe(3);
  });

  test('the proxy answers with a JSON-RPC error if the server has no target', async () => {
    await using world = await startGatewayWithUsers();
    const url = await serveMcp(world, filesAt());
    const { accessToken } = await signInClient(url);
    const answer = await callMcp(url, accessToken, { jsonrpc: '2.0', id: 7, method: 'tools/list' });
    expectJsonRpcError(answer, { status: 503, code: 50301, id: 7, reason: 'no-endpoint' });
    expect(answer.headers['retry-after']).toBe('1');
    // A request without a token does not reveal which servers exist.
    expect((await send(url, { method: 'POST' })).status).toBe(401);
  });
});
