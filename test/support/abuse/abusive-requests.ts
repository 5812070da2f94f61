/** A request of a stranger that is as long as the listener accepts, or as hard to read. */
export interface AbusiveRequest {
  readonly name: string;
  readonly host: string;
  /** What is on the wire, for the port of the gateway. */
  bytes(port: number): string;
}

/** The listener accepts 16 KiB of header. */
const HEADER_ROOM = 15_500;
const LONGEST_PATH = 8_000;
const LONGEST_NAME = 253;

/** Names under `localhost` of the hosts that the requests are for. */
type HostName = 'single' | 'several' | 'expressions' | 'mcp' | 'web' | 'x.wild';

interface Shape {
  readonly host?: HostName;
  readonly method?: string;
  readonly target?: string;
  /** Header lines besides `Host`. */
  readonly lines?: readonly string[];
  readonly body?: string;
}

function shape(name: string, { host = 'single', ...rest }: Shape): AbusiveRequest {
  return {
    name: `${name} (${host})`,
    host,
    bytes: (port) => message(`${host}.localhost:${String(port)}`, rest),
  };
}

function message(
  authority: string,
  { method = 'GET', target = '/', lines = [], body }: Omit<Shape, 'host'>,
): string {
  const framing = body === undefined ? [] : [`Content-Length: ${String(body.length)}`];
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${authority}`, ...lines, ...framing];
  return `${head.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Returns as much of a repeated part as there is room for. */
function full(part: string, room = HEADER_ROOM): string {
  return part.repeat(Math.floor(room / part.length));
}

function hosts(): readonly AbusiveRequest[] {
  const room = LONGEST_NAME - '.wild.localhost'.length;
  const names = [
    ...[full('a.'), full('a'), full('1.'), full('.'), full('-.'), full('A.'), `[${full(':')}]`],
    ...[full(':1'), `${full('a.', room)}wild.localhost`, full('a.', LONGEST_NAME)],
    ...[`${full('w.', room)}wild.localhost`, `${full('a.', LONGEST_NAME - 1)}b.`],
  ];
  return names.map((name) => ({
    name: `Host: ${name.slice(0, 12)}... of ${String(name.length)}`,
    host: name,
    bytes: (port) =>
      message(name.endsWith('wild.localhost') ? `${name}:${String(port)}` : name, {}),
  }));
}

const PATH_PARTS = [
  ...['/', '/a', 'a', '/;', ';a', '/;a=b', '%41', '/%41', '%2f', '%2F', '%5C', '%C3%A9', '%25'],
  ...[
    '/A',
    'aB',
    'aA0',
    '/.a',
    '.',
    '/..',
    '/%2e',
    '-',
    '/s0',
    '/s0/s1',
    '!',
    '/.gateway',
    '/;%2f',
  ],
];

function paths(): readonly AbusiveRequest[] {
  const hostNames: readonly HostName[] = ['single', 'several', 'expressions', 'mcp', 'web'];
  return hostNames.flatMap((host) =>
    PATH_PARTS.flatMap((part) => {
      const path = `/${full(part, LONGEST_PATH - 1)}`;
      const tooLong = { host, target: `/${full(part)}` };
      return [
        shape(`path ${part}...`, { host, target: path }),
        ...(host === 'several' ? [shape(`path of 15 KB ${part}...`, tooLong)] : []),
      ];
    }),
  );
}

function endpoints(): readonly AbusiveRequest[] {
  const names = [
    ...['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server'],
    ...['/.well-known/openid-configuration', '/.gateway', '/.gateway/mcp/authorize'],
  ];
  return names.flatMap((name) =>
    ['/', '/a', '/mcp', ';', '%2f', '/%41', '/A', '/s0'].map((part) =>
      shape(`path ${name}${part}...`, {
        host: 'mcp',
        target: name + full(part, LONGEST_PATH - name.length),
      }),
    ),
  );
}

function targets(): readonly AbusiveRequest[] {
  const queries = ['&', 'a=b&', '?', '%', '%41', '+', '[]', '=', '\\', '{"a":['];
  return [
    ...queries.map((part) => shape(`query ${part}...`, { target: `/?${full(part)}` })),
    ...queries.map((part) => shape(`query ${part}...`, { host: 'web', target: `/?${full(part)}` })),
    shape('absolute form', { target: `http://${full('a.')}/` }),
    shape('absolute form with a path', { target: `http://x${full('/')}` }),
    shape('authority form', { method: 'CONNECT', target: full('a.') }),
  ];
}

const LONG_HEADERS: Readonly<Record<string, readonly string[]>> = {
  Cookie: [
    'a=b;',
    ';',
    '=',
    '= ;',
    'a',
    '__Host-gatehouse=a;',
    'gatehouse-1=a; ',
    'a="',
    ' ;',
    'a;',
  ],
  Authorization: ['Bearer ', 'Bearer gte_a', ' ', '=', ',gte_', 'Basic a', 'a='],
  'X-Forwarded-For': [',', '1.1.1.1,', '::1,', ' ,', '[::1]:1,', ':'],
  Forwarded: [';', 'for=1.1.1.1,', '"'],
  Accept: ['text/html,', ',', 'a/b;q=1,', 'text/', '*/*;q=0.1,', ';'],
  Connection: ['a,', ',', 'keep-alive,', ' '],
  'Transfer-Encoding': ['chunked,', ',', 'gzip, '],
  'Content-Type': [';', 'application/json;', 'a/', '"'],
  Origin: ['http://', 'a.', ':', '/', 'http://localhost@'],
  'Access-Control-Request-Headers': ['mcp-param-a,', ',', 'a'],
  'Mcp-Name': ['=?base64?', '=', '%41', 'a'],
  'Mcp-Session-Id': ['a', '.'],
  'MCP-Protocol-Version': ['2026-07-28,', '2'],
  Traceparent: ['00-', '-', '0'],
  Tracestate: ['a=b,', ','],
  Trailer: ['a,', ','],
  Expect: ['100-continue,', ' '],
  'If-None-Match': ['"a",', ','],
  'Accept-Encoding': ['gzip,', ';q=1,'],
  'Sec-Fetch-Mode': ['navigate,'],
  'Sec-WebSocket-Protocol': ['a,', ','],
  'X-Http-Method-Override': ['A'],
  Referer: ['http://a/', '%'],
  Range: ['bytes=0-0,', ','],
};

function headers(): readonly AbusiveRequest[] {
  const hostNames: readonly HostName[] = ['single', 'web'];
  const filled = Object.entries(LONG_HEADERS).flatMap(([name, parts]) =>
    parts.flatMap((part) =>
      hostNames.map((host) =>
        shape(`${name}: ${part}...`, { host, lines: [`${name}: ${full(part)}`] }),
      ),
    ),
  );
  const many = [
    'Cookie: a=b',
    'a: b',
    'X-Forwarded-For: 1.1.1.1',
    'Connection: a',
    'A_B: c',
    'Accept: a',
  ];
  return [
    ...filled,
    ...many.flatMap((line) => [
      shape(`many lines of ${line}`, { lines: lines(line, 4_000) }),
      shape(`250 lines of ${line}`, { lines: lines(line, 250) }),
      shape(`250 lines of ${line}`, { host: 'web', lines: lines(line, 250) }),
    ]),
    shape('header fields with names of their own', {
      lines: Array.from({ length: 250 }, (_, index) => `X-${String(index)}_${'a'.repeat(45)}: b`),
    }),
    shape('one long name', { lines: [`${full('a')}: b`] }),
    shape('preflight', {
      host: 'mcp',
      method: 'OPTIONS',
      lines: [
        ...['Origin: https://a.example', 'Access-Control-Request-Method: POST'],
        `Access-Control-Request-Headers: ${full('mcp-param-a,', 15_000)}`,
      ],
    }),
    shape('handshake', {
      lines: [
        ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
        `Sec-WebSocket-Protocol: ${full('a,', 15_000)}`,
      ],
    }),
  ];
}

function lines(line: string, count: number): readonly string[] {
  return full(`${line}\r\n`, Math.min(HEADER_ROOM, count * (line.length + 2)))
    .split('\r\n')
    .filter((each) => each !== '');
}

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const JSON_TYPE = 'Content-Type: application/json';
const FORM_ROOM = 60_000;
const REGISTRATION_ROOM = 16_000;
const MCP_ROOM = 4_000;

function oauth(): readonly AbusiveRequest[] {
  const authorize = '/.gateway/mcp/authorize?response_type=code&';
  const values = {
    client_id: ['https://', 'a.', '/', '%2f', 'a', '%41'],
    redirect_uri: ['http://', '/', '%25', 'a'],
    scope: ['a+', '+', '%20', 'a'],
    resource: ['http://', '/', '%2f', 'http://mcp.localhost/'],
    state: ['a', '%25'],
  };
  return [
    ...Object.entries(values).flatMap(([name, parts]) =>
      parts.map((part) =>
        shape(`${name}=${part}...`, {
          host: 'mcp',
          target: `${authorize}${name}=${full(part, 15_000)}`,
        }),
      ),
    ),
    ...['&', 'a=b&', 'resource=a&', 'client_id=a&', '%41=%41&'].flatMap((part) => [
      shape(`form ${part}...`, {
        ...{ host: 'mcp', method: 'POST', target: '/.gateway/mcp/token', lines: [FORM] },
        body: full(part, FORM_ROOM),
      }),
      ...['/mcp/authorize', '/mcp/consent', '/sign_in', '/callback'].map((endpoint) =>
        shape(`parameters of ${endpoint} ${part}...`, {
          ...{ host: 'mcp', target: `/.gateway${endpoint}?${full(part, 15_000)}` },
        }),
      ),
    ]),
  ];
}

function bodies(): readonly AbusiveRequest[] {
  const json = (room: number): readonly string[] => [
    ...['[', '{"a":', '[[],', '"\\u0041', '\\', '"', '1', '-', ' ', '{"a":1},'].map((part) =>
      full(part, room),
    ),
    `[${full('{},', room - 4)}{}]`,
    `{${full('"a":1,', room - 10)}"b":1}`,
    `{${Array.from({ length: Math.floor(room / 14) }, (_, index) => `"k${String(index)}":1`).join()}}`,
    `${full('[', room / 2)}${full(']', room / 2)}`,
    `{"redirect_uris":[${full('"http://a",', room - 40)}"http://a"]}`,
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${full('\\u0041', room - 100)}"}}`,
  ];
  const register = { host: 'mcp', method: 'POST', target: '/.gateway/mcp/register' } as const;
  return [
    ...json(REGISTRATION_ROOM).map((body) =>
      shape(`registration ${body.slice(0, 12)}...`, { ...register, lines: [JSON_TYPE], body }),
    ),
    ...json(MCP_ROOM).map((body) =>
      shape(`message ${body.slice(0, 40)}...`, {
        ...{ host: 'mcp', method: 'POST', target: '/mcp', body },
        lines: [JSON_TYPE, 'Accept: application/json, text/event-stream'],
      }),
    ),
  ];
}

/** What a browser or client sends on an ordinary day. */
export const ORDINARY_REQUEST = shape('an ordinary request', {
  target: '/files/2026/report.html?page=2',
  lines: [
    ...['User-Agent: Mozilla/5.0 (X11; Linux x86_64)', 'Accept: text/html,application/xhtml+xml'],
    ...['Accept-Language: en-US,en;q=0.5', 'Accept-Encoding: gzip, deflate, br'],
    ...['Cookie: theme=dark; lang=en', 'Referer: https://example.com/', 'Sec-Fetch-Mode: navigate'],
  ],
});

/** Every shape of anonymous request that fills what a stranger may send. */
export const ABUSIVE_REQUESTS: readonly AbusiveRequest[] = [
  ...hosts(),
  ...paths(),
  ...endpoints(),
  ...targets(),
  ...headers(),
  ...oauth(),
  ...bodies(),
];
