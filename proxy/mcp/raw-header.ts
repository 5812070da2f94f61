import { isNamed } from '../http/is-named.ts';

/** Lower-case name of the header that names an MCP session. */
export const MCP_SESSION_ID = 'mcp-session-id';

/**
 * Returns every value of a header, as the client sent them. Node joins repeated headers or keeps the
 * first, while the next server may keep the last.
 */
export function rawHeaderValues(rawHeaders: readonly string[], name: string): readonly string[] {
  // Most headers that are asked for are absent, and need no list.
  let values: string[] | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (isNamed(rawHeaders[index] ?? '', name)) (values ??= []).push(rawHeaders[index + 1] ?? '');
  }
  return values ?? NONE;
}

const NONE: readonly string[] = [];
