import { describe, expect, test } from '@jest/globals';

import { UpstreamUnreachableError } from '../../../../../proxy/errors/upstream-errors.ts';
import {
  informationHeaders,
  responseHeaders,
  responseTrailers,
  type Framing,
} from '../../../../../proxy/forwarding/response/response-headers.ts';

const OK: Framing = { status: 200, hasNoBody: false, canChunk: true };

describe('header fields for the client', () => {
  test('keep the order, the spelling, the bytes and the repetitions of the upstream', () => {
    const fields = ['B', '2', 'Set-Cookie', 'a=1', 'x-UTF8', 'Ã©', 'set-cookie', 'b=2', 'A', ''];
    expect(responseHeaders(fields, OK).fields).toStrictEqual(fields);
  });

  test('exclude those about the upstream’s connection', () => {
    const raw = [
      ...['Connection', 'close, X-Hop, Content-Length', 'Keep-Alive', 'timeout=5', 'X-Hop', '1'],
      ...['Transfer-Encoding', 'chunked', 'Upgrade', 'h2c', 'TE', 'trailers'],
      ...['Proxy-Connection', 'x', 'Proxy-Authenticate', 'Basic', 'Content-Length', '2', 'X', '1'],
    ];
    expect(responseHeaders(raw, OK).fields).toStrictEqual(['Content-Length', '2', 'X', '1']);
  });

  test.each([
    '__Host-gatehouse=planted; Path=/; Secure',
    'gatehouse-8080=planted',
    'gatehouse=x',
    // Browsers send a cookie without a name as its bare value.
    '=gatehouse-8080=planted',
    ' = gatehouse-8080=planted; Path=/',
    '==gatehouse=planted',
    'gatehouse; Path=/',
    '=gatehouse; Path=/',
  ])('do not let an upstream plant a session: %s', (cookie) => {
    const raw = ['Set-Cookie', cookie, 'Set-Cookie', 'own=1'];
    expect(responseHeaders(raw, OK).fields).toStrictEqual(['Set-Cookie', 'own=1']);
  });

  test('are changed by an overlay: removed first, then added', () => {
    const raw = ['Access-Control-Allow-Origin', 'https://evil.example', 'X', '1'];
    const overlay = {
      remove: new Set(['access-control-allow-origin']),
      add: ['Access-Control-Allow-Origin', '*'],
    };
    expect(responseHeaders(raw, OK, overlay).fields).toStrictEqual([
      'X',
      '1',
      'Access-Control-Allow-Origin',
      '*',
    ]);
  });

  test.each<[string, string[], Framing, string[]]>([
    ['chunks', ['Trailer', 'X-Sum', 'A', '1'], OK, ['A', '1', 'Trailer', 'X-Sum']],
    ['a length', ['Trailer', 'X', 'Content-Length', '1'], OK, ['Content-Length', '1']],
    ['HTTP/1.0', ['Trailer', 'X'], { ...OK, canChunk: false }, []],
    ['no body', ['Trailer', 'X'], { ...OK, hasNoBody: true }, []],
  ])('announce trailers only where they can be sent: %s', (_where, raw, framing, sent) => {
    expect(responseHeaders(raw, framing).fields).toStrictEqual(sent);
  });

  test('exclude those that only the gateway writes, also if the route lists them', () => {
    const raw = ['X-Gateway-Assertion', 'forged', 'X-GATEWAY-User', 'alice', 'X-Gate', '1'];
    const framing = { ...OK, passed: ['x-gateway-user'] };
    expect(responseHeaders(raw, framing).fields).toStrictEqual(['X-Gate', '1']);
  });

  test('have no length for a 204', () => {
    const framing = { status: 204, hasNoBody: true, canChunk: true };
    expect(responseHeaders(['Content-Length', '5'], framing).fields).toStrictEqual([]);
  });

  test('keep a Content-Disposition before the length, where Node does not change its bytes', () => {
    const raw = ['Content-Length', '1', 'A', '1', 'Content-Disposition', 'inline'];
    expect(responseHeaders(raw, OK).fields).toStrictEqual([
      ...['Content-Disposition', 'inline', 'Content-Length', '1', 'A', '1'],
    ]);
  });

  test.each<[string, string[], Framing, boolean]>([
    ['chunks', [], OK, false],
    ['a length', ['Content-Length', '1'], { ...OK, canChunk: false }, false],
    ['nothing', [], { ...OK, canChunk: false }, true],
    ['there being none', [], { ...OK, canChunk: false, hasNoBody: true }, false],
  ])('report what marks the end of the body: %s', (_by, raw, framing, endsWithConnection) => {
    expect(responseHeaders(raw, framing)).toMatchObject({ endsWithConnection });
  });

  test.each(['gzip, chunked', 'gzip', 'identity'])(
    'refuse a response with a transfer coding that was not requested: %s',
    (coding) => {
      const raw = ['Transfer-Encoding', coding];
      expect(() => responseHeaders(raw, OK)).toThrow(UpstreamUnreachableError);
    },
  );
});

test('early hints have no cookies, no ids of MCP sessions, and no fields that only the gateway writes', () => {
  const raw = [
    ...['Link', '</a.css>', 'Set-Cookie', '__Host-gatehouse=planted', 'Set-cookie', 'a=1'],
    ...['Mcp-Session-Id', 'of-the-server'],
    ...['X-Request-Id', 'of-the-server', 'X-Gateway-Assertion', 'forged', 'Alt-Svc', 'h3=":1"'],
  ];
  expect(informationHeaders(raw)).toStrictEqual(['Link', '</a.css>']);
});

test('trailer fields for the client exclude framing, cookies and the gateway’s own fields', () => {
  const raw = [
    ...['X-Sum', '1', 'Set-Cookie', 'a=1', 'Content-Length', '3', 'Connection', 'close'],
    ...['Server-Timing', 'db;dur=1', 'mcp-Session-id', 'of-the-server'],
  ];
  expect(responseTrailers(raw)).toStrictEqual([
    ['X-Sum', '1'],
    ['Server-Timing', 'db;dur=1'],
  ]);
});
