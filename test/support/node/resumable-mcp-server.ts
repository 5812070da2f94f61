import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';

import { startStatefulMcpServer, type StatefulMcpServer } from '../stateful-mcp-server.ts';
import { EventMemory } from './event-memory.ts';

const TICK_MS = 100;

/** A stateful MCP server that sends each session a number ten times a second, in streams that can be resumed. */
export interface ResumableMcpServer extends StatefulMcpServer {
  /** The last number that was sent. */
  lastNumber(): number;
}

/** Starts a server, at an address of this machine. Its tool `whoami` returns `name`. */
export async function startResumableMcpServer(
  name: string,
  address = '127.0.0.1',
): Promise<ResumableMcpServer> {
  const servers: McpServer[] = [];
  let last = 0;
  const server = await startStatefulMcpServer(name, {
    address,
    newEventStore: () => new EventMemory(),
    onBegin: (session) => {
      session.server.registerCapabilities({ logging: {} });
      servers.push(session);
    },
  });
  const timer = setInterval(() => {
    last += 1;
    for (const session of servers) {
      // A session without an open stream reads it later, from the event store.
      session.sendLoggingMessage({ level: 'info', data: last }).catch(() => undefined);
    }
  }, TICK_MS);
  return {
    ...server,
    lastNumber: () => last,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await server[Symbol.asyncDispose]();
    },
  };
}
