/* eslint-disable @typescript-eslint/no-deprecated -- the old transport is what this test is about */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

import { expect } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';

import { startGatewayWithUsers } from '../support/gateway-with-users.ts';
import { signInClient } from '../support/signed-in-client.ts';
import { verifies } from '../requirements/verifies.ts';

/** Starts a server of the old HTTP+SSE transport, with two tools. Returns its origin. */
async function startOldServer(stack: AsyncDisposableStack): Promise<string> {
  const transports = new Map<string, SSEServerTransport>();
  const server = createServer((message, response) => {
    const url = new URL(message.url ?? '', 'http://server');
    if (message.method === 'GET' && url.pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response);
      transports.set(transport.sessionId, transport);
      void oldServer().connect(transport);
      return;
    }
    const transport = transports.get(url.searchParams.get('sessionId') ?? '');
    if (url.pathname === '/messages' && transport !== undefined) {
      void transport.handlePostMessage(message, response);
    } else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

function oldServer(): McpServer {
  const server = new McpServer({ name: 'old', version: '1.0.0' });
  for (const name of ['read', 'drop']) {
    server.registerTool(name, {}, () => ({ content: [{ type: 'text', text: `did ${name}` }] }));
  }
  return server;
}

verifies(
  ['mcp.endpoint-only', 'errors.tool-denied'],
  'a client and a server of the old transport talk over two sub-paths, and policy sees their tool calls',
  async () => {
    await using stack = new AsyncDisposableStack();
    const to = await startOldServer(stack);
    const world = stack.use(await startGatewayWithUsers());
    const from = world.gateway.origin;
    await world.configure({
      old: {
        ...{ from, to, mcp: { server: { subPaths: [{ path: '/sse' }, { path: '/messages' }] } } },
        policy: {
          allow: { and: [{ authenticated_user: true }] },
          deny: { or: [{ mcp_tool: { is: 'drop' } }] },
        },
      },
    });
    const { accessToken, server } = await signInClient(`${from}/sse`);
    expect(server.resource).toBe(`${from}/sse`);
    const headers = { authorization: `Bearer ${accessToken}` };
    const client = new Client({ name: 'old-client', version: '1.0.0' });
    stack.defer(() => client.close());
    const url = new URL(`${from}/sse`);
    await client.connect(new SSEClientTransport(url, { requestInit: { headers } }));
    expect(await client.callTool({ name: 'read', arguments: {} })).toMatchObject({
      content: [{ type: 'text', text: 'did read' }],
    });
    // Such a client reads answers on its stream only, and of its POST nothing but a failure.
    await expect(client.callTool({ name: 'drop', arguments: {} })).rejects.toThrow(
      /403.*mcp-tool-unauthorized/,
    );
    expect(await client.callTool({ name: 'read', arguments: {} })).not.toHaveProperty('isError');
  },
);
