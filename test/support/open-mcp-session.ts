import { callMcp } from './signed-in-client.ts';

const INITIALIZE = { jsonrpc: '2.0', id: 'initialize', method: 'initialize', params: {} };

/**
 * Opens an MCP session, and returns the header field that names it. The server must answer with an
 * `Mcp-Session-Id`.
 */
export async function openMcpSession(
  url: string,
  token: string,
): Promise<{ readonly 'mcp-session-id': string }> {
  const { headers, body } = await callMcp(url, token, INITIALIZE);
  const id = headers['mcp-session-id'];
  if (typeof id !== 'string') throw new Error(`no MCP session began: ${body}`);
  return { 'mcp-session-id': id };
}
