/** Lower-case name of the header that names an MCP session. */
export const MCP_SESSION_ID = 'mcp-session-id';

/**
 * Returns every value of a header, as the client sent them. Node joins repeated headers or keeps the
 * first, while the next server may keep the last.
 */
export function rawHeaderValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const key = rawHeaders[index] ?? '';
    if (key.length !== name.length || key.toLowerCase() !== name) continue;
    values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
