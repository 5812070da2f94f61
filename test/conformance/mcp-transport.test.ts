import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';

import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import { open } from '../support/http-client.ts';
import { emptyResult, sessionResult, startMcpRoute, type McpRoute } from '../support/mcp-route.ts';
import { verifies } from '../requirements/verifies.ts';

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const EVENT_STREAM = { 'content-type': 'text/event-stream' };

let route: McpRoute;

beforeAll(async () => {
  route = await startMcpRoute();
});

beforeEach(() => {
  route.answerWith(emptyResult);
});

afterAll(async () => {
  await route[Symbol.asyncDispose]();
});

/** Sends a request, with a message unless the method has none, and waits for the head of the response. */
function stream(method: string): Promise<IncomingMessage> {
  const { url, headers } = route;
  return open(url, { method, headers, ...(method === 'POST' && { body: LIST }) });
}

for (const method of ['PUT', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND', 'QUERY']) {
  verifies('transport.methods', `the MCP endpoint refuses the method ${method}`, async () => {
    const arrivals = await route.arrivalsDuring(async () => {
      const refused = await route.request(method);
      expect({ status: refused.status, allow: refused.headers.allow }).toEqual({
        status: 405,
        allow: 'POST, GET, DELETE',
      });
      // RFC 9110, section 9.3.2: a response to HEAD has no body.
      const body = '{"jsonrpc":"2.0","id":null,"error":{"code":40501';
      expect(refused.body.startsWith(method === 'HEAD' ? '' : body)).toBe(true);
    });
    expect(arrivals).toBe(0);
  });
}

describe('The messages of the transport', () => {
  verifies(
    'transport.unchanged',
    'a request and its response keep the headers for version and resumption',
    async () => {
      route.answerWith((_message, response) => {
        response.writeHead(200, { ...EVENT_STREAM, 'Mcp-Protocol-Version': '2025-11-25' });
        response.end('id: 2\n\n');
      });
      const version = { 'mcp-protocol-version': '2025-11-25' };
      const headers = { accept: 'text/event-stream', ...version, 'last-event-id': '1' };
      const resumed = await route.request('GET', headers);
      expect(resumed.headers).toMatchObject({ ...EVENT_STREAM, ...version });
      expect(resumed.body).toBe('id: 2\n\n');
      const { message } = route.upstream.requests.at(-1) ?? {};
      expect(message?.method).toBe('GET');
      expect(message?.headers).toMatchObject(headers);
    },
  );

  const ANSWERS: readonly (readonly [string, string, number, string])[] = [
    ['that there is no stream', 'GET', 405, ''],
    ['that sessions are not ended by clients', 'DELETE', 405, ''],
    ['that a session is ended', 'DELETE', 204, ''],
    ['that a notification is accepted', 'POST', 202, ''],
    ['that the session is gone', 'POST', 404, '{"jsonrpc":"2.0","id":1,"error":{"code":-32001}}'],
    ['that the session is missing', 'POST', 400, 'Bad Request'],
    ['that the version is not supported', 'POST', 400, '{"error":{"code":-32022}}'],
    ['that the method is unknown', 'POST', 404, '{"jsonrpc":"2.0","id":1,"error":{"code":-32601}}'],
    ['that it failed', 'POST', 500, 'oops'],
  ];

  for (const [what, method, status, body] of ANSWERS) {
    verifies(
      'transport.unchanged',
      `the client gets the response ${what} (${String(status)})`,
      async () => {
        route.answerWith((_message, response) => response.writeHead(status).end(body));
        const answer = method === 'POST' ? await route.post(LIST) : await route.request(method);
        expect({ status: answer.status, body: answer.body }).toEqual({ status, body });
      },
    );
  }
});

for (const method of ['GET', 'POST']) {
  describe(`The event stream of a ${method}`, () => {
    verifies(
      'transport.streams',
      'an event stream begins before its first event, and forwards each event at once',
      async () => {
        const index = route.upstream.requests.length;
        route.answerWith((_message, response) =>
          response.writeHead(200, EVENT_STREAM).flushHeaders(),
        );
        // Resolves with the head, while there is no event yet.
        const events = await stream(method);
        expect(events.headers).toMatchObject(EVENT_STREAM);
        const { response } = await route.upstream.request(index);
        for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
          response.write(event);
          const [chunk] = (await once(events, 'data')) as [Buffer];
          expect(chunk.toString()).toBe(event);
        }
        events.destroy();
      },
    );

    verifies(
      'transport.cancellation',
      'an event stream is aborted at the upstream when the client disconnects',
      async () => {
        const index = route.upstream.requests.length;
        route.answerWith((_message, response) =>
          response.writeHead(200, EVENT_STREAM).write(':\n\n'),
        );
        const events = await stream(method);
        await once(events, 'data');
        events.destroy();
        expect(await (await route.upstream.request(index)).finished).toBe(false);
      },
    );

    verifies(
      'transport.streams',
      'an event stream is aborted at the client when it is aborted at the upstream',
      async () => {
        route.answerWith((_message, response) => {
          response.writeHead(200, EVENT_STREAM).write(':\n\n', () => response.destroy());
        });
        await expect(buffer(await stream(method))).rejects.toMatchObject({ code: 'ECONNRESET' });
      },
    );
  });
}

verifies(
  'transport.both-eras',
  'clients of both revisions use one route at the same time',
  async () => {
    const modern = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
    };
    const version = { 'mcp-protocol-version': '2025-06-18' };
    const discover = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 0, method: 'server/discover' },
      params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
    });
    const initialize = JSON.stringify({
      ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test' } },
    });
    route.answerWith(sessionResult);
    const arrivals = await route.arrivalsDuring(async () => {
      const begun = await route.post(initialize);
      const legacy = { ...version, 'mcp-session-id': begun.headers['mcp-session-id'] };
      const answers = await Promise.all([
        route.post(discover, modern),
        route.post(LIST, legacy),
        route.post(discover, modern),
        route.request('GET', legacy),
        route.request('DELETE', legacy),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    });
    expect(arrivals).toBe(6);
  },
);

verifies(
  'transport.error-codes',
  'a response that the upstream breaks off is replaced by a gateway error with the id of the request',
  async () => {
    route.answerWith((_message, response) => response.destroy());
    for (const id of ['a-text', 0]) {
      const failed = await route.post(JSON.stringify({ jsonrpc: '2.0', id, method: 'x' }));
      const reason = 'upstream-unreachable';
      expectJsonRpcError(failed, { status: 502, code: 50201, id, reason });
    }
    const failed = await route.request('DELETE');
    expectJsonRpcError(failed, { status: 502, code: 50201 });
  },
);
