import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { expectJsonRpcError } from '../support/expect-json-rpc-error.ts';
import type { RequestOptions } from '../support/http-client.ts';
import { startMcpRoute, type McpRoute } from '../support/mcp-route.ts';
import { verifies } from '../requirements/verifies.ts';

type Headers = NonNullable<RequestOptions['headers']>;

const HEADER_MISMATCH = -32020;
const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';

const NOW = { 'mcp-protocol-version': MODERN };
const OF_LIST = { ...NOW, 'mcp-method': 'tools/list' };
const OF_CALL = { ...NOW, 'mcp-method': 'tools/call' };
const OF_READ = { ...NOW, 'mcp-method': 'resources/read' };

/** Headers of the revision that mirrors the body. */
function message(method: string, params: object = {}): string {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': MODERN };
  return JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } });
}

function base64(text: string): string {
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

const LEGACY_LIST = '{"jsonrpc":"2.0","id":7,"method":"tools/list"}';
const LIST = message('tools/list');
const CALL = message('tools/call', { name: 'echo' });
const READ = message('resources/read', { uri: 'file:///a' });
const GET_PROMPT = message('prompts/get', { name: 'p' });

let route: McpRoute;

beforeAll(async () => {
  route = await startMcpRoute();
});

afterAll(async () => {
  await route[Symbol.asyncDispose]();
});

describe('Headers that mirror the body', () => {
  const AGREEING: readonly (readonly [string, string, Headers])[] = [
    ['of a list', LIST, OF_LIST],
    ['of a call', CALL, { ...OF_CALL, 'mcp-name': 'echo' }],
    ['of a call in base64', CALL, { ...OF_CALL, 'mcp-name': base64('echo') }],
    [
      'of a call in Unicode',
      message('tools/call', { name: 'échø' }),
      { ...OF_CALL, 'mcp-name': base64('échø') },
    ],
    ['of a resource', READ, { ...OF_READ, 'mcp-name': 'file:///a' }],
    ['of a prompt', GET_PROMPT, { ...NOW, 'mcp-method': 'prompts/get', 'mcp-name': 'p' }],
    [
      'of an older revision, which mirrors nothing,',
      LEGACY_LIST,
      { 'mcp-protocol-version': LEGACY },
    ],
    ['without a revision', LEGACY_LIST, {}],
    ['of the method without a revision', LEGACY_LIST, { 'mcp-method': 'tools/list' }],
  ];

  for (const [what, body, headers] of AGREEING) {
    verifies(
      'rs.header-mismatch',
      `the MCP endpoint accepts headers ${what} that agree with the body`,
      async () => {
        expect((await route.post(body, headers)).status).toBe(200);
        expect(route.upstream.requests.at(-1)?.message.headers).toMatchObject(headers);
      },
    );
  }

  const DISAGREEING: readonly (readonly [string, string, Headers])[] = [
    ['another method', LIST, { ...NOW, 'mcp-method': 'ping' }],
    ['a harmless method over a call', CALL, { ...OF_LIST, 'mcp-name': 'echo' }],
    ['the method in capitals', LIST, { ...NOW, 'mcp-method': 'Tools/List' }],
    ['no method', LIST, NOW],
    ['another tool', CALL, { ...OF_CALL, 'mcp-name': 'other' }],
    ['another tool in base64', CALL, { ...OF_CALL, 'mcp-name': base64('other') }],
    ['the tool in capitals', CALL, { ...OF_CALL, 'mcp-name': 'Echo' }],
    ['no tool', CALL, OF_CALL],
    ['the tool twice', CALL, { ...OF_CALL, 'mcp-name': ['echo', 'echo'] }],
    ['two tools', CALL, { ...OF_CALL, 'mcp-name': ['echo', 'other'] }],
    ['two methods', LIST, { ...NOW, 'mcp-method': ['tools/list', 'tools/call'] }],
    ['two versions', LIST, { ...OF_LIST, 'mcp-protocol-version': [MODERN, LEGACY] }],
    ['another resource', READ, { ...OF_READ, 'mcp-name': 'file:///b' }],
    ['another version', LIST, { ...OF_LIST, 'mcp-protocol-version': LEGACY }],
    ['no version', LIST, { 'mcp-method': 'tools/list' }],
    [
      'another method, in an older revision',
      LEGACY_LIST,
      { 'mcp-protocol-version': LEGACY, 'mcp-method': 'tools/call' },
    ],
    ['another method, in no revision', LEGACY_LIST, { 'mcp-method': 'tools/call' }],
  ];

  for (const [what, body, headers] of DISAGREEING) {
    verifies('rs.header-mismatch', `the MCP endpoint refuses headers with ${what}`, async () => {
      const arrivals = await route.arrivalsDuring(async () => {
        const refused = await route.post(body, headers);
        expectJsonRpcError(refused, { status: 400, code: HEADER_MISMATCH, id: 7 });
      });
      expect(arrivals).toBe(0);
    });
  }

  verifies(
    'transport.param-headers',
    'headers that mirror arguments of a tool are forwarded unchanged',
    async () => {
      const region = base64('größer');
      const headers = { 'Mcp-Param-Region': region, 'mcp-param-unknown': 'anything' };
      const answer = await route.post(CALL, { ...OF_CALL, 'mcp-name': 'echo', ...headers });
      expect(answer.status).toBe(200);
      const { headers: fields = [] } = route.upstream.requests.at(-1) ?? {};
      expect(fields).toEqual(expect.arrayContaining(Object.entries(headers)));
    },
  );

  for (const version of ['2031-01-01', 'draft', '1']) {
    verifies(
      'transport.unknown-version',
      `a body of the unknown revision ${version} is accepted if it is valid`,
      async () => {
        const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/list' };
        expect((await route.post(LEGACY_LIST, headers)).status).toBe(200);
        const { message: arrived } = route.upstream.requests.at(-1) ?? {};
        expect(arrived?.headers['mcp-protocol-version']).toBe(version);
        expect((await route.post(`[${LEGACY_LIST}]`, headers)).status).toBe(400);
      },
    );
  }
});
