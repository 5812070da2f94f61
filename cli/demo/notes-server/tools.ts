import { McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';

import type { Notebook } from './notes.ts';

/** Creates an MCP server with the notes of one account. */
export function createNotesTools(notebook: Notebook, account: string): McpServer {
  const server = new McpServer({ name: 'demo-notes', version: '1.0.0' });
  const annotations = { readOnlyHint: true, openWorldHint: false };
  server.registerTool(
    'list_notes',
    { description: 'List the notes', inputSchema: z.object({}), annotations },
    () => text([`Notes of the account ${account}:`, ...notebook.list(account)].join('\n')),
  );
  server.registerTool(
    'add_note',
    { description: 'Write a note', inputSchema: z.object({ text: z.string() }) },
    (input) => {
      notebook.add(account, input.text);
      return text('Written.');
    },
  );
  return server;
}

function text(content: string): CallToolResult {
  return { content: [{ type: 'text', text: content }] };
}
