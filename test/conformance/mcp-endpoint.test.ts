import { beforeEach, describe, expect } from '@jest/globals';

import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import { send } from '../support/http-client.ts';
import { emptyResult, startMcpRoute, type McpRoute } from '../support/mcp-route.ts';
import { openForAll } from '../support/open-for-all.ts';
import { RawClient } from '../support/raw-http.ts';
import { verifies } from '../requirements/verifies.ts';

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

const world = openForAll<McpRoute>(() =>
  startMcpRoute({ path: '/mcp', subPaths: [{ path: '/sse' }, { path: '/messages/' }] }),
);

beforeEach(() => {
  world().answerWith(emptyResult);
});

describe('The paths of an MCP route', () => {
  const OTHERS = [
    ...['/api', '/api/tables/1', '/x', '/mcp/x', '/mcpx', '/MCP', '/mcp//', '//', '/mcp;x', '/;x'],
    ...['/mcp%2F', '/%6dcp', '/mcp/%20', '/sse/', '/sse/x', '/SSE', '/sse;x', '/messages'],
    ...['/messages//', '/messages/1', '/messages%2F', '/mcp/sse', '/favicon.ico', '/robots.txt'],
  ];

  for (const method of ['POST', 'GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD']) {
    verifies(
      'mcp.endpoint-only',
      `a ${method} to a path beside or below the endpoint is 404, with a token and without`,
      async () => {
        const { url, headers } = world();
        const arrivals = await world().arrivalsDuring(async () => {
          for (const path of OTHERS) {
            for (const credentials of [headers, {}]) {
              const message = method === 'POST' ? { body: LIST } : {};
              const refused = await send(url + path, { method, headers: credentials, ...message });
              expect({ path, status: refused.status }).toEqual({ path, status: 404 });
              expect(refused.headers).not.toHaveProperty('www-authenticate');
            }
          }
        });
        expect(arrivals).toBe(0);
      },
    );
  }

  verifies(
    'mcp.endpoint-only',
    'a request target that hides another path in the endpoint is refused, however it is written',
    async () => {
      const { url, headers, port } = world();
      const targets = [
        ...[
          '/mcp/../api',
          '/mcp/..;/api',
          '/mcp/%2e%2e/api',
          '/mcp/..%2fapi',
          '/mcp\\..\\api',
          '/mcp\\',
        ],
        ...[
          '/mcp%00',
          '/mcp%',
          '/mcp#/../api',
          '/mcp%23',
          '/mcp%3F',
          '/mcp%3Bx',
          '/.//mcp',
          '/%2Fmcp',
        ],
        ...[`${url}/api`, `${url}//`, `${url}/mcp/x`, 'http://evil.example/', '*'],
      ];
      const fields = Object.entries({ host: new URL(url).host, ...headers, connection: 'close' });
      const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const length = `content-length: ${String(LIST.length)}\r\n\r\n`;
      const answerTo = async (target: string): Promise<number> => {
        await using client = await RawClient.connect(port);
        client.send(`POST ${target} HTTP/1.1\r\n${head}${length}${LIST}`);
        return (await client.response()).status;
      };
      const arrivals = await world().arrivalsDuring(async () => {
        for (const target of targets) {
          const status = await answerTo(target);
          expect({ target, isRefused: status === 400 || status === 404 }).toEqual({
            ...{ target, isRefused: true },
          });
        }
      });
      expect(arrivals).toBe(0);
      for (const target of ['/mcp?/../api', `${url}/mcp`, `${url}/`]) {
        expect({ target, status: await answerTo(target) }).toEqual({ target, status: 200 });
      }
    },
  );

  verifies(
    'mcp.endpoint-only',
    'a preflight of a path that is not served is 404, and allows nothing',
    async () => {
      const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
      const refused = await send(`${world().url}/x`, { method: 'OPTIONS', headers });
      expect(refused.status).toBe(404);
      expect(refused.headers).not.toHaveProperty('access-control-allow-methods');
    },
  );

  verifies(
    ['mcp.endpoint-only', 'mcp.path-appended'],
    'the endpoint is also served with a slash at its end and with the path of the server',
    async () => {
      for (const [path, arrived] of [
        ...[['', '/mcp'] as const, ['/mcp', '/mcp'] as const],
        ...[['/mcp/', '/mcp/'] as const, ['/?a=b', '/mcp?a=b'] as const],
      ]) {
        const { url, headers } = world();
        const index = world().upstream.requests.length;
        const answer = await send(url + path, { method: 'POST', headers, body: LIST });
        expect({ path, status: answer.status }).toEqual({ path, status: 200 });
        expect((await world().upstream.request(index)).message.url).toBe(arrived);
      }
    },
  );
});

describe('A listed sub-path', () => {
  verifies(
    'mcp.endpoint-only',
    'the old pair of a stream and a path for messages is served, byte for byte',
    async () => {
      const { url, headers, upstream } = world();
      const index = upstream.requests.length;
      expect((await world().request('GET', { accept: 'text/event-stream' }, '/sse')).status).toBe(
        200,
      );
      const posted = await send(`${url}/messages/?sessionId=1`, {
        ...{ method: 'POST', headers, body: LIST },
      });
      expect(posted.status).toBe(200);
      const arrived = upstream.requests.slice(index).map(({ message }) => message.url);
      expect(arrived).toEqual(['/mcp/sse', '/mcp/messages/?sessionId=1']);
    },
  );

  verifies(
    ['mcp.endpoint-only', 'transport.methods'],
    'an inspected sub-path has the rules of the endpoint',
    async () => {
      const { url, headers } = world();
      const refusals = [
        [405, 'PUT', {}],
        [406, 'GET', { accept: 'text/html' }],
        [400, 'DELETE', { 'mcp-session-id': undefined }],
      ] as const;
      const arrivals = await world().arrivalsDuring(async () => {
        for (const [status, method, more] of refusals) {
          expect((await world().request(method, more, '/sse')).status).toBe(status);
        }
        const batch = await send(`${url}/messages/`, {
          ...{ method: 'POST', headers, body: `[${LIST}]` },
        });
        expectJsonRpcError(batch, { status: 400, code: -32600 });
        const anonymous = await send(`${url}/messages/`, { method: 'POST', body: LIST });
        expect(anonymous.status).toBe(401);
      });
      expect(arrivals).toBe(0);
    },
  );
});

describe('A GET at the endpoint', () => {
  const REFUSED = [
    ...['*/*', 'text/html,*/*;q=0.8', 'application/json', 'text/*', 'text/event-stream;q=0'],
    ...['text/event-stream ; q=0.000', 'text/html, text/event-stream;q=0.0', 'text/event-streams'],
    ...['application/json;x="text/event-stream"', ''],
  ];

  for (const accept of REFUSED) {
    verifies(
      'transport.methods',
      `a GET that accepts "${accept}" and so asks for no event stream is 406`,
      async () => {
        const arrivals = await world().arrivalsDuring(async () => {
          const refused = await world().request('GET', { accept });
          expectJsonRpcError(refused, { status: 406, code: 40601, reason: 'not-acceptable' });
        });
        expect(arrivals).toBe(0);
      },
    );
  }

  const FORWARDED = [
    ...['text/event-stream', 'Text/Event-Stream;q=0.5', 'application/json, text/event-stream'],
    '*/*,text/event-stream ; charset=utf-8',
  ];

  for (const accept of FORWARDED) {
    verifies('transport.methods', `a GET that accepts "${accept}" is forwarded`, async () => {
      expect((await world().request('GET', { accept })).status).toBe(200);
    });
  }
});

verifies(
  'transport.methods',
  'a DELETE without an Mcp-Session-Id is 400, since it ends no session',
  async () => {
    const arrivals = await world().arrivalsDuring(async () => {
      const refused = await world().request('DELETE', { 'mcp-session-id': undefined });
      expectJsonRpcError(refused, { status: 400, code: 40001, reason: 'no-mcp-session' });
    });
    expect(arrivals).toBe(0);
    expect((await world().request('DELETE')).status).toBe(200);
  },
);

verifies(
  ['transport.methods', 'transport.both-eras'],
  'a GET or DELETE of the revision without sessions is 405, and only POST is allowed',
  async () => {
    const headers = { accept: 'text/event-stream', 'mcp-session-id': 'session-1' };
    const arrivals = await world().arrivalsDuring(async () => {
      for (const method of ['GET', 'DELETE']) {
        for (const version of ['2026-07-28', '2027-01-01']) {
          const refused = await world().request(method, {
            ...{ ...headers, 'mcp-protocol-version': version },
          });
          expect({ status: refused.status, allow: refused.headers.allow }).toEqual({
            ...{ status: 405, allow: 'POST' },
          });
        }
      }
    });
    expect(arrivals).toBe(0);
  },
);
