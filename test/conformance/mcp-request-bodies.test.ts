import { gzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import { send, type RequestOptions } from '../support/http-client.ts';
import { startMcpRoute, type McpRoute } from '../support/mcp-route.ts';
import { verifies } from '../requirements/verifies.ts';

type Body = string | Buffer;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const MAX_LEVELS = 128;

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const UTF16 = Buffer.from(`\ufeff${LIST}`, 'utf16le');

let route: McpRoute;

beforeAll(async () => {
  route = await startMcpRoute();
});

afterAll(async () => {
  await route[Symbol.asyncDispose]();
});

/** Returns a call with id 7 and these members changed. */
function request(members: object): string {
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'echo' } };
  return JSON.stringify({ ...call, ...members });
}

/** Returns a message with id 7 and these members, byte for byte. */
function written(members: string): string {
  return `{"jsonrpc":"2.0","id":7,${members}}`;
}

/** Returns a `tools/list` with these bytes within it. */
function listWith(bytes: readonly number[]): Buffer {
  const middle = LIST.indexOf('/');
  const parts = [LIST.slice(0, middle), Buffer.from(bytes), LIST.slice(middle)];
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

function nested(levels: number): string {
  return written(`"method":"x","params":{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`);
}

/** Bodies that a strict parser of JSON refuses and some others accept. */
const NO_JSON: Readonly<Record<string, Body>> = {
  nothing: '',
  'half a message': '{"jsonrpc":"2.0",',
  'something behind the message': `${LIST} x`,
  'two messages': `${LIST}\n${LIST}`,
  'a comment': `/* */${LIST}`,
  'a comma too many': LIST.replace('}', ',}'),
  'other quotes': LIST.replaceAll('"', "'"),
  NaN: LIST.replace('1,', 'NaN,'),
  'a byte order mark': `\ufeff${LIST}`,
  'UTF-16': UTF16,
  'UTF-16 without a mark': Buffer.from(LIST, 'utf16le'),
  'a byte that is no UTF-8': listWith([0xef]),
  'a slash in an overlong encoding': listWith([0xc0, 0xaf]),
  'a surrogate in UTF-8': listWith([0xed, 0xa0, 0x80]),
  'gzip that nobody announced': gzipSync(LIST),
};

/** Bodies that are not one JSON-RPC message, or do not have a clear id. */
const NO_MESSAGE: Readonly<Record<string, Body>> = {
  'a batch': `[${LIST},${request({})}]`,
  'a batch of one': `[${LIST}]`,
  'an empty batch': '[]',
  'a text': '"tools/call"',
  null: 'null',
  'the method twice': written('"method":"tools/list","method":"tools/call"'),
  'the method twice, once escaped': written('"method":"tools/list","\\u006dethod":"tools/call"'),
  'the tool twice': written('"method":"tools/call","params":{"name":"a","name":"b"}'),
  'params twice': written('"method":"tools/call","params":{"name":"a"},"params":{"name":"b"}'),
  'the id twice': written('"method":"tools/list","id":8'),
  'an argument twice': written(
    '"method":"tools/call","params":{"name":"a","arguments":{"x":[{"y":1,"y":2}]}}',
  ),
  'a method by its prototype': written('"__proto__":{"method":"tools/list"}'),
  'neither a request nor a response': '{"jsonrpc":"2.0","id":7}',
  'a response with params': '{"jsonrpc":"2.0","id":7,"result":{},"params":{"name":"echo"}}',
  'a response with a foreign member': '{"jsonrpc":"2.0","id":7,"result":{},"tool":"echo"}',
  'an id that is null': request({ id: null }),
  'an id that is an object': request({ id: {} }),
  'an id that no number holds': LIST.replace('1,', '1e400,'),
  'nesting that overflows stacks': nested(1000),
  'nesting that is a level too deep': nested(MAX_LEVELS - 1),
};

/** Requests that parsers may read differently. */
const NO_REQUEST: Readonly<Record<string, Body>> = {
  'the method in capitals too': request({ METHOD: 'tools/list' }),
  'params in other case too': request({ Params: {} }),
  'params with a long s too': request({ paramſ: {} }),
  'the id in other case too': request({ ID: 1 }),
  'the tool in other case too': request({ params: { name: 'a', Name: 'b' } }),
  'the tool in other case only': request({ params: { Name: 'b' } }),
  'arguments in other case': request({ params: { name: 'a', Arguments: {} } }),
  'params as a list': request({ params: ['echo'] }),
  'params that are null, and so no tool': request({ params: null }),
  'a foreign member': request({ x: 1 }),
  'a session beside the method': request({ sessionId: 'a' }),
  'a second call in a foreign member': request({ call: { method: 'tools/call' } }),
  'a prototype': written('"method":"tools/list","__proto__":{"method":"tools/call"}'),
  'no tool': request({ params: {} }),
  'a tool that is no text': request({ params: { name: ['echo'] } }),
  'a tool that is half a character': written('"method":"tools/call","params":{"name":"\\ud800"}'),
  'a tool by its prototype': written('"method":"tools/call","params":{"__proto__":{"name":"a"}}'),
  'arguments that are no object': request({ params: { name: 'a', arguments: [] } }),
  'a method that is no text': request({ method: 7 }),
  'a response in it': request({ result: {} }),
  'an error in it': request({ error: { code: 1, message: '' } }),
  'no version of JSON-RPC': '{"id":7,"method":"tools/list"}',
  'another version of JSON-RPC': request({ jsonrpc: '1.0' }),
};

const REFUSED = [
  { bodies: NO_JSON, code: PARSE_ERROR, id: null },
  { bodies: NO_MESSAGE, code: INVALID_REQUEST, id: null },
  { bodies: NO_REQUEST, code: INVALID_REQUEST, id: 7 },
];

describe('A body that the MCP endpoint refuses', () => {
  for (const { bodies, code, id } of REFUSED) {
    for (const [what, body] of Object.entries(bodies)) {
      verifies('rs.strict-body', `a body with ${what} does not reach the upstream`, async () => {
        const arrivals = await route.arrivalsDuring(async () => {
          expectJsonRpcError(await route.post(body), { status: 400, code, id });
        });
        expect(arrivals).toBe(0);
      });
    }
  }

  const HEADERS: readonly (readonly [string, NonNullable<RequestOptions['headers']>, Body?])[] = [
    ['of type text/plain', { 'content-type': 'text/plain' }],
    ['of a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['of no type', { 'content-type': undefined }],
    ['of the type application/json-seq', { 'content-type': 'application/json-seq' }],
    ['of two types', { 'content-type': ['application/json', 'application/json'] }],
    ['of two types in one', { 'content-type': 'application/json, text/plain' }],
    ['in UTF-16 that is announced', { 'content-type': 'application/json; charset=utf-16' }, UTF16],
    ['in gzip that is announced', { 'content-encoding': 'gzip' }, gzipSync(LIST)],
    ['in gzip that is announced in capitals', { 'content-encoding': 'GZIP' }, gzipSync(LIST)],
    ['in two encodings', { 'content-encoding': ['identity', 'br'] }],
  ];

  for (const [what, headers, body = LIST] of HEADERS) {
    verifies('rs.strict-body', `a body ${what} does not reach the upstream`, async () => {
      const arrivals = await route.arrivalsDuring(async () => {
        expectJsonRpcError(await route.post(body, headers), { status: 415, code: 41501 });
      });
      expect(arrivals).toBe(0);
    });
  }

  for (const method of ['GET', 'DELETE']) {
    verifies(
      'rs.strict-body',
      `a body of a ${method}, which must have none, does not reach the upstream`,
      async () => {
        const arrivals = await route.arrivalsDuring(async () => {
          for (const framing of [{}, { 'transfer-encoding': 'chunked' }]) {
            const headers = { ...route.headers, ...framing };
            const refused = await send(route.url, { method, headers, body: LIST });
            expectJsonRpcError(refused, { status: 400, code: 40001, reason: 'unexpected-body' });
          }
        });
        expect(arrivals).toBe(0);
      },
    );
  }
});

const UNDERSTOOD: Readonly<Record<string, string>> = {
  'with space around everything': ' {\n\t"jsonrpc" : "2.0" ,\r\n "id":1, "method":"ping" }\n',
  'with keys in any order': '{"params":{},"method":"ping","id":"a","jsonrpc":"2.0"}',
  'with escapes': written('"m\\u0065thod":"tools\\/list"'),
  'with numbers no double holds': written('"method":"x","params":{"x":12345678901234567890.10}'),
  'with text in every script': request({ id: 'ü', params: { name: '日本語 😀' } }),
  'with __proto__ among the arguments': written(
    '"method":"tools/call","params":{"name":"a","arguments":{"__proto__":{"x":1},"name":"b"}}',
  ),
  'with keys that differ in case elsewhere': request({
    params: { name: 'a', arguments: { Name: 1, name: 2, NAME: 3 } },
  }),
  'with members of params nobody knows': request({
    params: { name: 'a', _meta: { 'a/b': [null] }, x: 1 },
  }),
  'with arguments that are null': request({ params: { name: 'a', arguments: null } }),
  'with _meta that is null': request({ params: { name: 'a', _meta: null } }),
  'with params that are null': request({ method: 'tools/list', params: null }),
  'with all the nesting there may be': nested(MAX_LEVELS - 2),
  'that is a notification': '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  'that is a response': '{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}',
  'that is an error response': '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
};

describe('A body that the MCP endpoint accepts', () => {
  for (const [what, body] of Object.entries(UNDERSTOOD)) {
    verifies(
      ['rs.strict-body', 'transport.unchanged'],
      `a body ${what} is forwarded unchanged`,
      async () => {
        for (const framing of [{}, { 'transfer-encoding': 'chunked' }]) {
          expect((await route.post(body, framing)).status).toBe(200);
          expect(route.bodies.at(-1)?.equals(Buffer.from(body))).toBe(true);
          const { headers = {} } = route.upstream.requests.at(-1)?.message ?? {};
          expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
          expect(headers).not.toHaveProperty('transfer-encoding');
        }
      },
    );
  }

  verifies(
    'transport.unchanged',
    'the MCP endpoint accepts its media type in any spelling',
    async () => {
      const types = ['application/json', 'Application/JSON', 'application/json; charset=utf-8'];
      for (const type of [...types, 'application/json;charset="UTF-8"']) {
        expect((await route.post(LIST, { 'content-type': type })).status).toBe(200);
      }
    },
  );
});
