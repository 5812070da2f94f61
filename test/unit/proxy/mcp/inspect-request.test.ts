import { describe, expect, test } from '@jest/globals';

import { InvalidMessageError } from '../../../../proxy/errors/request-errors.ts';
import { checkBodyHeaders, inspectRequest } from '../../../../proxy/mcp/inspect-request.ts';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const MODERN = '2026-07-28';
const CALL = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'read_file' } };
const LIST = { jsonrpc: '2.0', id: 5, method: 'tools/list' };
const CANCEL = { jsonrpc: '2.0', method: 'notifications/cancelled', params: {} };
const RESPONSE = { jsonrpc: '2.0', id: 5, result: {} };
const TASK = { jsonrpc: '2.0', id: 5, method: 'tasks/get', params: { taskId: 't1' } };
const READ = { jsonrpc: '2.0', id: 5, method: 'resources/read', params: { uri: 'file:///\u00e9' } };
const PROMPT = { jsonrpc: '2.0', id: 5, method: 'prompts/get', params: { name: ' greet' } };

describe('checkBodyHeaders', () => {
  test.each([
    ['application/json'],
    ['Application/JSON'],
    ['application/json; charset=utf-8'],
    ['application/json;charset="UTF-8"'],
  ])('accepts a body of type %s', (type) => {
    expect(() => checkBodyHeaders({ rawHeaders: ['Content-Type', type] })).not.toThrow();
  });

  test.each([
    ['without a type', []],
    ['of an empty type', ['Content-Type', '']],
    ['of another type', ['Content-Type', 'text/json']],
    ['of a type that begins like JSON', ['Content-Type', 'application/json-patch+json']],
    ['of a type that mentions JSON', ['Content-Type', 'text/plain; a=application/json']],
    ['in another character set', ['Content-Type', 'application/json; charset=utf-16']],
    ['in two character sets', ['Content-Type', 'application/json; charset=utf-8; charset=utf-7']],
    ['of two types', ['Content-Type', 'application/json', 'content-type', 'text/plain']],
    ['of one type twice', ['Content-Type', 'application/json', 'content-type', 'application/json']],
    ['of two types in one header', ['Content-Type', 'application/json, text/plain']],
    ['that is compressed', ['Content-Type', 'application/json', 'Content-Encoding', 'gzip']],
    [
      'that is compressed by a second header',
      [
        'Content-Type',
        'application/json',
        'Content-Encoding',
        'identity',
        'content-encoding',
        'br',
      ],
    ],
    ['of no named encoding', ['Content-Type', 'application/json', 'Content-Encoding', '']],
  ])('refuses a body %s', (_, rawHeaders) => {
    expect(refusal(() => checkBodyHeaders({ rawHeaders }))).toMatchObject({
      status: 415,
      code: 41501,
      messageId: null,
    });
  });

  test('accepts a body with the encoding identity', () => {
    const rawHeaders = ['content-type', 'application/json', 'content-encoding', 'Identity'];

    expect(() => checkBodyHeaders({ rawHeaders })).not.toThrow();
  });
});

describe('inspectRequest', () => {
  test.each<[string, object, Headers]>([
    ['of an old client', CALL, {}],
    ['of an old revision', CALL, { 'MCP-Protocol-Version': '2025-11-25' }],
    ['of a version that is no date', CALL, { 'MCP-Protocol-Version': 'DRAFT-2026-v1' }],
    [
      'of an old revision that mirrors',
      CALL,
      { 'Mcp-Method': 'tools/call', 'Mcp-Name': 'read_file' },
    ],
    ['that mirrors its body', CALL, mirrored('tools/call', 'read_file')],
    ['in lower case headers', CALL, lowerCase(mirrored('tools/call', 'read_file'))],
    [
      'of a later revision',
      CALL,
      { ...mirrored('tools/call', 'read_file'), 'MCP-Protocol-Version': '2027-01-31' },
    ],
    ['whose method has no name to mirror', LIST, mirrored('tools/list')],
    ['with a name where none is mirrored', LIST, mirrored('tools/list', 'anything')],
    ['that is a notification', CANCEL, mirrored('notifications/cancelled')],
    ['that is a response', RESPONSE, { 'MCP-Protocol-Version': MODERN }],
    ['of a task without its name', TASK, mirrored('tasks/get')],
    ['of a task with its name', TASK, mirrored('tasks/get', 't1')],
    ['with an encoded name', READ, mirrored('resources/read', encoded('file:///\u00e9'))],
    [
      'with an encoded name that begins with a space',
      PROMPT,
      mirrored('prompts/get', encoded(' greet')),
    ],
    [
      'without the name that its header would mirror',
      { ...PROMPT, params: {} },
      mirrored('prompts/get'),
    ],
    [
      'that names its version in the body',
      withVersion(CALL, MODERN),
      mirrored('tools/call', 'read_file'),
    ],
    [
      'that names an old version in the body',
      withVersion(CALL, '2025-11-25'),
      { 'MCP-Protocol-Version': '2025-06-18' },
    ],
  ])('accepts a message %s', (_, body, headers) => {
    expect(inspect(body, headers).kind).toBeDefined();
  });

  test.each<[string, object, Headers]>([
    ['another method', CALL, mirrored('tools/list', 'read_file')],
    ['its method in another case', LIST, mirrored('TOOLS/LIST')],
    ['another name', CALL, mirrored('tools/call', 'list_files')],
    ['its name in another case', CALL, mirrored('tools/call', 'Read_File')],
    ['another name, encoded', CALL, mirrored('tools/call', encoded('list_files'))],
    ['another URI', READ, mirrored('resources/read', 'file:///a')],
    ['its name in bytes beyond ASCII', READ, mirrored('resources/read', 'file:///\u00e9')],
    [
      'its name in base64 without padding',
      CALL,
      mirrored('tools/call', '=?base64?cmVhZF9maWxl=?='),
    ],
    ['another task', TASK, mirrored('tasks/get', 't2')],
    ['a name that the body lacks', { ...PROMPT, params: {} }, mirrored('prompts/get', 'greet')],
    ['another method, of an old client', CALL, { 'Mcp-Method': 'tools/list' }],
    ['another name, of an old client', CALL, { 'Mcp-Name': 'list_files' }],
    ['a method for a response', RESPONSE, { 'Mcp-Method': 'tools/list' }],
    ['no method', LIST, { 'MCP-Protocol-Version': MODERN }],
    ['no method for a notification', CANCEL, { 'MCP-Protocol-Version': MODERN }],
    ['no method, of a later revision', LIST, { 'MCP-Protocol-Version': '2031-12-01' }],
    ['no tool name', CALL, mirrored('tools/call')],
    ['no prompt name', PROMPT, mirrored('prompts/get')],
    ['no URI', READ, mirrored('resources/read')],
    ['another version', withVersion(LIST, '2027-01-31'), mirrored('tools/list')],
    ['an old version', withVersion(LIST, MODERN), { 'MCP-Protocol-Version': '2025-11-25' }],
    ['a version newer than the body', withVersion(LIST, '2025-11-25'), mirrored('tools/list')],
    ['no version', withVersion(LIST, MODERN), {}],
  ])('refuses headers with %s', (_, body, headers) => {
    const id = 'id' in body && 'method' in body ? body.id : null;

    expect(refusal(() => inspect(body, headers))).toMatchObject({
      status: 400,
      code: -32020,
      messageId: id,
    });
  });

  test.each(['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'])(
    'refuses a repeated %s header, even with equal values',
    (name) => {
      const headers = mirrored('tools/call', 'read_file');
      const rawHeaders = [
        ...Object.entries(headers).flat(),
        name.toLowerCase(),
        headers[name] ?? '',
      ];
      const body = Buffer.from(JSON.stringify(CALL));

      expect(refusal(() => inspectRequest({ rawHeaders }, body))).toMatchObject({ code: -32020 });
    },
  );

  test('refuses an invalid body before it checks headers', () => {
    const rawHeaders = Object.entries(mirrored('tools/list')).flat();

    expect(refusal(() => inspectRequest({ rawHeaders }, Buffer.from('[]')))).toMatchObject({
      code: -32600,
    });
  });

  test('quotes neither headers nor body', () => {
    const { message } = refusal(() => inspect(CALL, mirrored('tools/call', 'hunter2')));

    expect(message).toBe('the Mcp-Name header is not the name in the body');
  });
});

type Headers = Readonly<Record<string, string>>;

function mirrored(method: string, name?: string): Headers {
  return {
    'MCP-Protocol-Version': MODERN,
    'Mcp-Method': method,
    ...(name === undefined ? {} : { 'Mcp-Name': name }),
  };
}

function lowerCase(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([k, value]) => [k.toLowerCase(), value]));
}

function encoded(text: string): string {
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function withVersion(body: { id: number; params?: object }, version: string): object {
  return { ...body, params: { ...body.params, _meta: { [VERSION_KEY]: version } } };
}

function inspect(body: object, headers: Headers): ReturnType<typeof inspectRequest> {
  const rawHeaders = Object.entries(headers).flat();
  return inspectRequest({ rawHeaders }, Buffer.from(JSON.stringify(body)));
}

function refusal(run: () => unknown): InvalidMessageError {
  try {
    run();
  } catch (error) {
    if (error instanceof InvalidMessageError) return error;
    throw error;
  }
  throw new Error('the request was not refused');
}
