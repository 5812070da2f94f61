import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { parseMessage } from '../../../../proxy/mcp/json-rpc.ts';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

describe('parseMessage', () => {
  test('reads a tool call', () => {
    const body = {
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: {
        name: 'read_file',
        arguments: { path: 'a' },
        _meta: { [VERSION_KEY]: '2026-07-28' },
      },
    };

    expect(parse(body)).toEqual({
      kind: 'request',
      id: 7,
      method: 'tools/call',
      params: body.params,
      toolName: 'read_file',
      toolArguments: { path: 'a' },
      mirroredName: 'read_file',
      protocolVersion: '2026-07-28',
    });
  });

  test('reads a tool call without arguments as one with empty arguments', () => {
    const message = parse({ jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 't' } });

    expect(message).toMatchObject({ id: 'x', toolName: 't', toolArguments: {} });
  });

  test('reads null as if the member were absent', () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    const withNull = parse({ ...call, params: { name: 't', arguments: null, _meta: null } });
    const { params, ...read } = parse({ ...call, params: { name: 't' } });
    expect(withNull).toMatchObject(read);
    expect(params).toEqual({ name: 't' });
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect(parse({ ...list, params: null })).toEqual(parse(list));
  });

  test('reads the tool of a call without an id', () => {
    const message = parse({ jsonrpc: '2.0', method: 'tools/call', params: { name: 't' } });

    expect(message).toMatchObject({ kind: 'notification', id: undefined, toolName: 't' });
  });

  test('reads a request without params', () => {
    expect(parse({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).toEqual({
      kind: 'request',
      id: 1,
      method: 'tools/list',
      params: {},
      toolName: undefined,
      toolArguments: undefined,
      mirroredName: undefined,
      protocolVersion: undefined,
    });
  });

  test.each([
    ['a result', { jsonrpc: '2.0', id: 3, result: {} }],
    ['an error', { jsonrpc: '2.0', id: 3, error: { code: 1, message: 'x' } }],
    ['an error without id', { jsonrpc: '2.0', error: { code: 1, message: 'x' } }],
  ])('reads a response with %s, without a method or an id', (_, body) => {
    expect(parse(body)).toMatchObject({ kind: 'response', id: undefined, method: undefined });
  });

  test.each([
    ['prompts/get', { name: 'greet' }, 'greet'],
    ['resources/read', { uri: 'file:///a' }, 'file:///a'],
    ['tasks/cancel', { taskId: 't1' }, 't1'],
    ['prompts/get', {}, undefined],
    ['prompts/get', { name: 1 }, undefined],
    ['tools/list', { name: 'x' }, undefined],
    ['constructor', { name: 'x' }, undefined],
  ])('finds the text that Mcp-Name mirrors for %s %j', (method, params, mirroredName) => {
    expect(parse({ jsonrpc: '2.0', id: 1, method, params }).mirroredName).toBe(mirroredName);
  });

  test('accepts any arguments unchanged', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (written) => {
        const text = JSON.stringify(written);
        const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":${text}}}`;

        expect(parseMessage(Buffer.from(body)).toolArguments).toEqual(JSON.parse(text));
      }),
    );
  });

  test('accepts any case in keys that it does not read', () => {
    const params = {
      name: 't',
      arguments: { Name: 'x', name: 'y', METHOD: 1 },
      _meta: { Name: 1 },
    };

    expect(parse({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }).toolName).toBe('t');
  });

  test('accepts U+0000 in argument values, and an escaped backslash before u0000', () => {
    const written = { text: 'a\0b', '\\u0000': 1 };
    const params = { name: 't', arguments: written };

    expect(parse({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }).toolArguments).toEqual(
      written,
    );
  });
});

function parse(body: object): ReturnType<typeof parseMessage> {
  return parseMessage(Buffer.from(JSON.stringify(body)));
}
