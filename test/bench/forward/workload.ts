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

/** Headers of an MCP client. */
export const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
} as const;

/** Headers of a browser. */
const BROWSER_HEADERS = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-GB,en;q=0.7,de;q=0.3',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'same-origin',
} as const;
const BROWSER_COOKIES = 'theme=dark; locale=en-GB';

/** Warm tokens or session cookies that the load is spread over. */
export const TOKEN_COUNT = 2_000;

/**
 * What is sent: calls of a tool with external tokens or with JWTs, pages for users with a session cookie, or
 * pages for anybody.
 */
export type Workload = (typeof WORKLOADS)[number];

/** All of them. */
export const WORKLOADS = ['mcp', 'jwt', 'web', 'public'] as const;

/**
 * Returns a complete HTTP/1.1 request for each credential: a bearer token, or a cookie as `name=value`; one
 * without a credential if there is none.
 */
export function requestsOf(
  workload: Workload,
  host: string,
  credentials: readonly string[],
): readonly Buffer[] {
  const each = credentials.length === 0 ? [undefined] : credentials;
  return each.map((credential) => {
    if (workload === 'mcp' || workload === 'jwt') return toolCall(host, credential);
    const cookie = credential === undefined ? BROWSER_COOKIES : `${BROWSER_COOKIES}; ${credential}`;
    return request('GET /reports/42?month=11', { host, ...BROWSER_HEADERS, cookie });
  });
}

function toolCall(host: string, token = 'none'): Buffer {
  const authorization = `Bearer ${token}`;
  const length = String(Buffer.byteLength(TOOL_CALL));
  const headers = { host, ...HEADERS, authorization, 'content-length': length };
  return request('POST /mcp', headers, TOOL_CALL);
}

function request(line: string, headers: Readonly<Record<string, string>>, body = ''): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${line} HTTP/1.1\r\n${fields.join('')}\r\n${body}`);
}
