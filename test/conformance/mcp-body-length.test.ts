import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import { startMcpRoute, type McpRoute } from '../support/mcp-route.ts';
import { headerOf, RawClient } from '../support/raw-http.ts';
import { verifies } from '../requirements/verifies.ts';

const DEFAULT_LIMIT = 4096;
const SMALL_LIMIT = 100;
const LARGE_LIMIT = 1024 * 1024;
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const LIST_LENGTH = `Content-Length: ${String(LIST.length)}`;

let route: McpRoute;
let small: McpRoute;
let large: McpRoute;

beforeAll(async () => {
  route = await startMcpRoute();
  small = await startMcpRoute({ maxRequestBytes: SMALL_LIMIT });
  large = await startMcpRoute({ maxRequestBytes: LARGE_LIMIT });
});

afterAll(async () => {
  for (const one of [route, small, large]) await one[Symbol.asyncDispose]();
});

/** Returns the head of a POST, with a token only if `headers` has one. */
function head(fields: readonly string[], headers = route.headers): string {
  const own = Object.entries({ host: new URL(route.url).host, ...headers });
  const lines = own.map(([name, value]) => `${name}: ${value}`);
  return ['POST / HTTP/1.1', ...lines, ...fields, '', ''].join('\r\n');
}

/** Returns a valid message of this many bytes. */
function messageOf(bytes: number): string {
  const start = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"';
  const end = '"}}';
  return start + 'x'.repeat(bytes - start.length - end.length) + end;
}

describe('The length of a body', () => {
  const LIMITS: readonly (readonly [string, () => McpRoute, number])[] = [
    ['the default limit of 4 KiB', () => route, DEFAULT_LIMIT],
    ['a lower limit of its route', () => small, SMALL_LIMIT],
    ['a higher limit of its route', () => large, LARGE_LIMIT],
  ];

  for (const [what, routeOf, limit] of LIMITS) {
    for (const framing of ['with a length', 'in chunks']) {
      const headers = framing === 'in chunks' ? { 'transfer-encoding': 'chunked' } : {};

      verifies(
        'mcp.max-request-bytes',
        `the MCP endpoint accepts a body as long as ${what}, ${framing}`,
        async () => {
          const exact = messageOf(limit);
          expect((await routeOf().post(exact, headers)).status).toBe(200);
          expect(routeOf().bodies.at(-1)?.toString()).toBe(exact);
        },
      );

      verifies(
        'mcp.max-request-bytes',
        `the MCP endpoint refuses a body one byte longer than ${what}, ${framing}`,
        async () => {
          const arrivals = await routeOf().arrivalsDuring(async () => {
            const refused = await routeOf().post(messageOf(limit + 1), headers);
            expectJsonRpcError(refused, { status: 413, code: 41301, reason: 'body-too-large' });
            expect(refused.body).toContain(`${String(limit)} bytes`);
            expect(refused.body).toContain('(maxRequestBytes, max_request_bytes)');
          });
          expect(arrivals).toBe(0);
        },
      );
    }
  }

  verifies(
    'mcp.max-request-bytes',
    'the MCP endpoint refuses an announced length before the body is sent',
    async () => {
      const arrivals = await route.arrivalsDuring(async () => {
        await using client = await RawClient.connect(route.port);
        client.send(head(['Content-Length: 1000000000']));
        const refused = await client.response();
        expect(refused.status).toBe(413);
        expect(headerOf(refused, 'connection')).toBe('close');
      });
      expect(arrivals).toBe(0);
    },
  );

  verifies(
    'mcp.max-request-bytes',
    'the MCP endpoint refuses an announced length without 100 Continue',
    async () => {
      await using client = await RawClient.connect(route.port);
      client.send(head(['Content-Length: 5000', 'Expect: 100-continue']));
      expect((await client.response()).status).toBe(413);
    },
  );

  verifies(
    'mcp.max-request-bytes',
    'the MCP endpoint answers 100 Continue to an allowed length',
    async () => {
      await using client = await RawClient.connect(route.port);
      client.send(head([LIST_LENGTH, 'Expect: 100-continue']));
      expect((await client.response()).status).toBe(100);
      client.send(LIST);
      expect((await client.response()).status).toBe(200);
    },
  );

  verifies(
    'mcp.token-required',
    'the MCP endpoint does not ask for the body of a request without a token',
    async () => {
      await using client = await RawClient.connect(route.port);
      const fields = { 'content-type': 'application/json' };
      client.send(head([LIST_LENGTH, 'Expect: 100-continue'], fields));
      expect((await client.response()).status).toBe(401);
    },
  );

  verifies(
    'mcp.max-request-bytes',
    'the MCP endpoint refuses a body without an announced length once it exceeds the limit',
    async () => {
      const arrivals = await route.arrivalsDuring(async () => {
        await using client = await RawClient.connect(route.port);
        const chunk = `800\r\n${' '.repeat(0x800)}\r\n`;
        client.send(head(['Transfer-Encoding: chunked']) + chunk + chunk + chunk);
        expect((await client.response()).status).toBe(413);
        expect(await client.closed).toBe('ended');
      });
      expect(arrivals).toBe(0);
    },
  );
});

describe('A length that differs from the body', () => {
  verifies(
    'rs.strict-body',
    'the bytes after a length that is too short are not part of the message',
    async () => {
      const arrivals = await route.arrivalsDuring(async () => {
        await using client = await RawClient.connect(route.port);
        client.send(head([LIST_LENGTH]) + LIST);
        expect((await client.response()).status).toBe(200);
        client.send(LIST);
        expect((await client.response()).status).toBe(400);
        expect(await client.closed).toBe('ended');
      });
      expect(arrivals).toBe(1);
      expect(route.bodies.at(-1)?.toString()).toBe(LIST);
    },
  );

  verifies(
    'rs.strict-body',
    'the bytes after a length that is too short are not forwarded',
    async () => {
      const before = route.bodies.length;
      await using client = await RawClient.connect(route.port);
      client.send(head([LIST_LENGTH]) + LIST + LIST);
      // The first message is complete. The rest is a malformed request, which ends the connection.
      expect((await client.response()).status).toBe(200);
      expect(await client.closed).toBe('ended');
      const arrived = route.bodies.slice(before).map(String);
      expect(arrived.filter((body) => body !== LIST)).toEqual([]);
    },
  );

  verifies(
    'rs.strict-body',
    'a body that is shorter than its length is not forwarded',
    async () => {
      const arrivals = await route.arrivalsDuring(async () => {
        await using client = await RawClient.connect(route.port);
        client.send(head([`Content-Length: ${String(LIST.length + 1)}`]) + LIST);
        client.socket.end();
        await client.closed;
        // This response comes after the gateway has handled the request above.
        expect((await route.request('PUT')).status).toBe(405);
      });
      expect(arrivals).toBe(0);
    },
  );

  const FRAMINGS: readonly (readonly string[])[] = [
    [LIST_LENGTH, 'Transfer-Encoding: chunked'],
    [LIST_LENGTH, 'Content-Length: 2'],
    [LIST_LENGTH, LIST_LENGTH],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: gzip, chunked'],
  ];

  for (const framing of FRAMINGS) {
    verifies(
      'rs.strict-body',
      `the MCP endpoint refuses the framing ${framing.join(', ')}`,
      async () => {
        const arrivals = await route.arrivalsDuring(async () => {
          await using client = await RawClient.connect(route.port);
          client.send(head(framing) + LIST);
          expect((await client.response()).status).toBe(400);
          expect(await client.closed).toBe('ended');
        });
        expect(arrivals).toBe(0);
      },
    );
  }
});
