import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { startUpstream, type Upstream } from '../upstream.ts';
import { EventMemory } from './event-memory.ts';

const TICK_MS = 100;

/** An MCP server on the official SDK that sends each session a number ten times a second. */
export interface ResumableMcpServer extends Upstream {
  /** Number of sessions that began here. */
  sessions(): number;
  /** The last number that was sent. */
  lastNumber(): number;
}

/**
 * Starts a server that accepts only the sessions that it began, and whose event streams can be resumed. Its tool `whoami`
 * returns `name`.
 */
export async function startResumableMcpServer(
  name: string,
  address: string,
): Promise<ResumableMcpServer> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const servers: McpServer[] = [];
  let last = 0;

  async function begin(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new EventMemory(),
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    const server = new McpServer({ name, version: '1.0.0' }, { capabilities: { logging: {} } });
    server.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: name }] }));
    await server.connect(transport);
    servers.push(server);
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

  const timer = setInterval(() => {
    last += 1;
    for (const { server } of servers) {
      // A session without an open stream reads it later, from the event store.
      server.sendLoggingMessage({ level: 'info', data: last }).catch(() => undefined);
    }
  }, TICK_MS);
  const upstream = await startUpstream((message, response) => {
    serve(message, response).catch(() => response.destroy());
  }, address);
  return {
    ...upstream,
    sessions: () => transports.size,
    lastNumber: () => last,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.all([...transports.values()].map((transport) => transport.close()));
      await upstream[Symbol.asyncDispose]();
    },
  };
}
