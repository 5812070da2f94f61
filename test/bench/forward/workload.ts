/** The request that is measured: a tools/call of 1 KiB. */
export const TOOL_CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'list_invoices', arguments: { note: 'x'.repeat(900) } },
});

/** The response of the upstream, of the same size. */
export const TOOL_RESULT = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text: 'y'.repeat(900) }] },
});

export const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
} as const;

/** Warm tokens that the load is spread over. */
export const TOKEN_COUNT = 2_000;
