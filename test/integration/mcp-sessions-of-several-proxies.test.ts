import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, test } from '@jest/globals';

import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import { startBalancer } from '../support/balancer.ts';
import { aSnapshot } from '../support/compiled-resources.ts';
import { compiledSettings } from '../support/compiled-settings.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { startGatewayWithUsers } from '../support/gateway-with-users.ts';
import { send } from '../support/http-client.ts';
import { LiveSession } from '../support/node/live-session.ts';
import { startResumableMcpServer } from '../support/node/resumable-mcp-server.ts';
import { publicRouteTo } from '../support/public-route.ts';
import { mcpHeaders, signInClient } from '../support/signed-in-client.ts';
import { startStatefulMcpServer } from '../support/stateful-mcp-server.ts';
import { startTcpService } from '../support/tcp-service.ts';

const INFO = { name: 'mcp-sessions-test', version: '1.0.0' };
const HOST = '127.0.0.1';
const FIRST = 0;
const SECOND = 1;
const REPLACEMENTS = 3;

test('an MCP session of an official client goes on while its proxies are replaced, for its user only', async () => {
  await using server = await startStatefulMcpServer('the server');
  // Both proxies use them, as they would use one Redis.
  const stores = createMemoryStores();
  await using opening = new AsyncDisposableStack();
  const world = opening.use(await startGatewayWithUsers({ stores }));
  const targets = [{ host: HOST, port: world.gateway.port }];
  await using balancer = await startBalancer({ port: 0, address: HOST, targets, seed: 1 });
  const url = `http://localhost:${String(balancer.port)}`;
  const access = { allowAnyAuthenticatedUser: true };
  await world.configure({
    mcp: { from: url, to: server.origin, mcp: { server: {} }, ...access },
  });
  await using peer = await world.startPeer();
  targets.push({ host: HOST, port: peer.port });

  const connect = async (login: string): Promise<[Client, StreamableHTTPClientTransport]> => {
    const { accessToken } = await signInClient(url, { login });
    const requestInit = { headers: { authorization: `Bearer ${accessToken}` } };
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
    const client = new Client(INFO);
    await client.connect(transport);
    return [client, transport];
  };
  balancer.only(FIRST);
  const [alice, transport] = await connect('alice');
  const bob = await signInClient(url, { login: 'bob' });
  const sessionId = transport.sessionId;

  for (const proxy of [SECOND, FIRST, SECOND]) {
    balancer.only(proxy);
    await alice.callTool({ name: 'whoami' });
    const headers = { ...mcpHeaders(bob.accessToken), 'mcp-session-id': sessionId };
    expect((await send(url, { method: 'DELETE', headers })).status).toBe(404);
  }
  await world.gateway[Symbol.asyncDispose]();
  await alice.callTool({ name: 'whoami' });

  expect(transport.sessionId).toBe(sessionId);
  expect(server.sessions()).toBe(1);
  await transport.terminateSession();
  await alice.close();
});

test('an MCP session of an official client misses no event while its proxies are replaced', async () => {
  await using server = await startResumableMcpServer('the server');
  await using opened = new AsyncDisposableStack();
  const proxies: TestGateway[] = [];
  const service = opened.use(await startTcpService(() => proxies.map(({ port }) => port)));
  const startProxy = async (): Promise<TestGateway> => {
    const proxy = opened.use(await startGateway());
    await proxy.gateway.apply(aSnapshot(compiledSettings(), publicRouteTo(server.origin, service)));
    return proxy;
  };
  proxies.push(await startProxy());
  const url = `http://localhost:${String(service.port)}/mcp`;
  await using session = await LiveSession.begin({ url, fetch });

  for (let replaced = 0; replaced < REPLACEMENTS; replaced += 1) {
    const [old] = proxies.splice(0, 1, await startProxy());
    await old?.gateway.drain({ minMs: 2000, timeoutMs: 60_000 });
  }

  expect(await session.missedUpTo(server.lastNumber())).toEqual([]);
});
