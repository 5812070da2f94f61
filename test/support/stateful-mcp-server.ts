import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  StreamableHTTPServerTransport,
  type EventStore,
} from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { startUpstream, type Upstream } from './upstream.ts';

/** An MCP server on the official SDK that accepts only the sessions that it began. */
export interface StatefulMcpServer extends Upstream {
  /** Number of sessions that began here. */
  sessions(): number;
}

interface StatefulMcpServerOptions {
  /** Address of this machine to listen on; loopback by default. */
  readonly address?: string;
  /** Makes the store of a session's events. Without one, its streams cannot be resumed. */
  readonly newEventStore?: () => EventStore;
  /** Gets the server of each session before it begins. */
  readonly onBegin?: (server: McpServer) => void;
}

/** Starts a server with the tool `whoami`, which returns `name`. */
export async function startStatefulMcpServer(
  name: string,
  { address, newEventStore, onBegin }: StatefulMcpServerOptions = {},
): Promise<StatefulMcpServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();

  async function begin(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      ...(newEventStore !== undefined && { eventStore: newEventStore() }),
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    const server = new McpServer({ name, version: '1.0.0' });
    server.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: name }] }));
    onBegin?.(server);
    await server.connect(transport);
    return transport;
  }

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = message.headers['mcp-session-id'];
    const known = typeof id === 'string' ? transports.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      // MCP 2025-11-25, Session Management, rule 3.
      response.writeHead(404).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001}}');
      return;
    }
    await (known ?? (await begin())).handleRequest(message, response);
  }

  const upstream = await startUpstream((message, response) => {
    serve(message, response).catch(() => response.destroy());
  }, address);
  return {
    ...upstream,
    sessions: () => transports.size,
    async [Symbol.asyncDispose]() {
      await Promise.all([...transports.values()].map((transport) => transport.close()));
      await upstream[Symbol.asyncDispose]();
    },
  };
}
