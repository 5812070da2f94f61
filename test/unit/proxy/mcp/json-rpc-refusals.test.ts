import { describe, expect, test } from '@jest/globals';

import { InvalidMessageError } from '../../../../proxy/errors/request-errors.ts';
import { parseMessage } from '../../../../proxy/mcp/json-rpc.ts';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

describe('parseMessage', () => {
  test.each([
    ['nothing', ''],
    ['no JSON', '{"jsonrpc":"2.0",}'],
    ['something after the message', '{"jsonrpc":"2.0","id":1,"method":"ping"}{}'],
    ['a byte order mark', '\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    ['NaN for an id', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}'],
  ])('refuses %s as a parse error', (_, text) => {
    expect(refusal(text)).toMatchObject({ status: 400, code: -32700, messageId: null });
  });

  test.each([
    ['UTF-16', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}', 'utf16le')],
    ['Latin-1', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\u00e9"}', 'latin1')],
    [
      'overlong UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
    ],
    [
      'a surrogate in UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
  ])('refuses %s as a parse error', (_, body) => {
    expect(refusal(body)).toMatchObject({ status: 400, code: -32700, messageId: null });
  });

  test.each([
    [
      'a batch that hides a tool call',
      '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}]',
    ],
    ['an empty batch', '[]'],
    ['a text', '"tools/call"'],
    ['null', 'null'],
    ['a second method', '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}'],
    [
      'a second tool name',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}',
    ],
    [
      'a second key deep in the arguments',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[{"y":1,"y":2}]}}}',
    ],
    // Attack: C parsers end a text at U+0000, so that policy and upstream see different tools.
    [
      'U+0000 in a key that is then the name of a tool',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","name\\u0000":"drop_table"}}',
    ],
    [
      'U+0000 in a key that is then the method',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","method\\u0000":"tools/call","params":{"name":"drop_table"}}',
    ],
    [
      'U+0000 in a key deep in the arguments',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[{"y":1,"y\\u0000":2}]}}}',
    ],
    [
      'U+0000 in a key of a response',
      '{"jsonrpc":"2.0","id":1,"result":{},"method\\u0000":"tools/call"}',
    ],
    ['a second id', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'],
    [
      '129 levels',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(127)}${']'.repeat(127)}}}`,
    ],
    ['null for an id', '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
    ['true for an id', '{"jsonrpc":"2.0","id":true,"method":"ping"}'],
    ['an object for an id', '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ['an infinite id', '{"jsonrpc":"2.0","id":1e400,"method":"ping"}'],
    ['a lone surrogate in the id', '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}'],
    ['neither a request nor a response', '{"jsonrpc":"2.0","id":1}'],
    ['a result and an error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}'],
    ['a result without id', '{"jsonrpc":"2.0","result":{}}'],
    ['params in a response', '{"jsonrpc":"2.0","id":1,"result":{},"params":{"name":"t"}}'],
    ['params in an error', '{"jsonrpc":"2.0","error":{},"params":{"name":"t"}}'],
    [
      'a member that JSON-RPC does not have in a response',
      '{"jsonrpc":"2.0","id":1,"result":{},"x":1}',
    ],
    [
      'a key of another case in a response',
      '{"jsonrpc":"2.0","id":1,"result":{},"Method":"tools/call"}',
    ],
  ])('refuses %s, without an id in the error', (_, text) => {
    expect(refusal(text)).toMatchObject({ status: 400, code: -32600, messageId: null });
  });

  test.each([
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":9,"method":"ping"}'],
    ['no version of JSON-RPC', '{"id":9,"method":"ping"}'],
    ['a number for a method', '{"jsonrpc":"2.0","id":9,"method":1}'],
    ['null for a method', '{"jsonrpc":"2.0","id":9,"method":null}'],
    ['a lone surrogate in the method', '{"jsonrpc":"2.0","id":9,"method":"\\udc00"}'],
    ['a request that is a response', '{"jsonrpc":"2.0","id":9,"method":"ping","result":{}}'],
    ['a request that is an error', '{"jsonrpc":"2.0","id":9,"method":"ping","error":{}}'],
    ['a list for params', '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":["t"]}'],
    [
      'null for the params of a tool call',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":null}',
    ],
    ['a member that JSON-RPC does not have', '{"jsonrpc":"2.0","id":9,"method":"ping","x":1}'],
    ['__proto__ beside a method', '{"jsonrpc":"2.0","id":9,"method":"ping","__proto__":{}}'],
    ['null for a result beside a method', '{"jsonrpc":"2.0","id":9,"method":"ping","result":null}'],
    ['a tool call without params', '{"jsonrpc":"2.0","id":9,"method":"tools/call"}'],
    ['a tool call without a name', '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{}}'],
    [
      'a tool call whose name is inherited',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"__proto__":{"name":"t"}}}',
    ],
    [
      'a list for a tool name',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":["t"]}}',
    ],
    [
      'a lone surrogate in the tool name',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"\\ud800"}}',
    ],
    [
      'a list for arguments',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"t","arguments":[]}}',
    ],
    [
      'a text for arguments',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"t","arguments":"x"}}',
    ],
    [
      'a lone surrogate in a URI',
      '{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"\\ud800"}}',
    ],
    // Attack: C parsers end a text at U+0000, so that policy and upstream see different tools.
    [
      'U+0000 in the tool name',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"drop_table\\u0000"}}',
    ],
    [
      'U+0000 in the method',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call\\u0000","params":{"name":"drop_table"}}',
    ],
    [
      'U+0000 in a URI',
      '{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"file:///a\\u0000"}}',
    ],
    [
      'U+0000 in the id of a task',
      '{"jsonrpc":"2.0","id":9,"method":"tasks/cancel","params":{"taskId":"t\\u0000"}}',
    ],
    ['Method', '{"jsonrpc":"2.0","id":9,"method":"tools/list","Method":"tools/call"}'],
    ['PARAMS', '{"jsonrpc":"2.0","id":9,"method":"ping","PARAMS":{}}'],
    ['param\u017f with a long s', '{"jsonrpc":"2.0","id":9,"method":"ping","param\u017f":{}}'],
    ['Result beside a method', '{"jsonrpc":"2.0","id":9,"method":"ping","Result":{}}'],
    ['Name', '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a","Name":"b"}}'],
    [
      'an escaped Name',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a","\\u004eame":"b"}}',
    ],
    ['URI', '{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"URI":"b"}}'],
    [
      'Arguments',
      '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a","Arguments":{}}}',
    ],
    ['_Meta', '{"jsonrpc":"2.0","id":9,"method":"ping","params":{"_Meta":{}}}'],
    [
      'protocolversion',
      `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"_meta":{"${VERSION_KEY.toLowerCase()}":"x"}}}`,
    ],
  ])('refuses %s, with the id of the request in the error', (_, text) => {
    expect(refusal(text)).toMatchObject({ status: 400, code: -32600, messageId: 9 });
  });

  test.each([
    ['a list for _meta', '{"jsonrpc":"2.0","id":9,"method":"ping","params":{"_meta":[]}}'],
    [
      'a number for the protocol version',
      `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"_meta":{"${VERSION_KEY}":1}}}`,
    ],
  ])('refuses %s as invalid params', (_, text) => {
    expect(refusal(text)).toMatchObject({ status: 400, code: -32602, messageId: 9 });
  });

  test('explains that batches are not accepted', () => {
    expect(refusal('[]').message).toBe('batches are not accepted');
  });

  test('does not quote a body that it refuses', () => {
    const { message, cause } = refusal('{"password":"hunter2" oops}');

    expect(message).not.toContain('hunter2');
    expect(cause).toBeUndefined();
  });
});

function refusal(body: string | Buffer): InvalidMessageError {
  try {
    parseMessage(Buffer.from(body as string));
  } catch (error) {
    if (error instanceof InvalidMessageError) return error;
    throw error;
  }
  throw new Error('the body was not refused');
}
