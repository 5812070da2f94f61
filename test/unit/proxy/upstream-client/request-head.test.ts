import { Readable } from 'node:stream';

import { describe, expect, test } from '@jest/globals';

import type { OutgoingRequest } from '../../../../proxy/upstream-client/outgoing-request.ts';
import { lastChunk, requestHead } from '../../../../proxy/upstream-client/request-head.ts';

const REQUEST: OutgoingRequest = {
  method: 'GET',
  path: '/x?y',
  host: 'server:80',
  headers: ['X-A', '1', 'x-b', 'caf\xe9 "quoted"', 'X-A', ''],
  body: undefined,
  responseTimeoutMs: 0,
};

const INJECTIONS = [
  '\r',
  '\n',
  '\r\nX-Evil: 1',
  '\0',
  '\u010a',
  '\u010d',
  '\u4e0d',
  '\ud83d\ude00',
];

function headOf(changes: Partial<OutgoingRequest>): string {
  return requestHead({ ...REQUEST, ...changes });
}

describe('The head of a request', () => {
  test('keeps fields in their order and spelling', () => {
    expect(headOf({})).toBe(
      'GET /x?y HTTP/1.1\r\nhost: server:80\r\nconnection: keep-alive\r\n' +
        'X-A: 1\r\nx-b: caf\xe9 "quoted"\r\nX-A: \r\n\r\n',
    );
  });

  test('has the values of its request when most values repeat', () => {
    for (let count = 0; count < 100; count += 1) {
      const [path, value, id] = [`/${String(count % 3)}`, `v${String(count >> 5)}`, String(count)];
      expect(headOf({ path, headers: ['X-Value', value, 'X-Id', id, 'X-Empty', ''] })).toBe(
        `GET ${path} HTTP/1.1\r\nhost: server:80\r\nconnection: keep-alive\r\n` +
          `X-Value: ${value}\r\nX-Id: ${id}\r\nX-Empty: \r\n\r\n`,
      );
    }
  });

  test('never has a value that could end it, however often it is tried', () => {
    for (let count = 0; count < 100; count += 1) {
      expect(() => headOf({ headers: ['X-Tried', 'a\r\nX-Evil: 1'] })).toThrow('cannot be written');
    }
  });

  const source = Readable.from([]);
  test.each<[string, OutgoingRequest['body'], string]>([
    ['GET', undefined, ''],
    ['GET', Buffer.alloc(0), ''],
    ['POST', undefined, 'content-length: 0'],
    ['PUT', Buffer.alloc(0), 'content-length: 0'],
    ['DELETE', undefined, ''],
    ['GET', Buffer.from('body'), 'content-length: 4'],
    ['POST', { source, length: 7 }, 'content-length: 7'],
    ['POST', { source }, 'transfer-encoding: chunked'],
    [
      'POST',
      { source, trailers: { announced: 'X-Sum', read: () => [] } },
      'transfer-encoding: chunked\r\nTrailer: X-Sum',
    ],
    ['POST', { source, trailers: { announced: '', read: () => [] } }, 'transfer-encoding: chunked'],
  ])('of %s frames its body: %#', (method, body, framing) => {
    const head = headOf({ method, body, headers: [] });
    const rest = head.slice(head.indexOf('keep-alive\r\n') + 'keep-alive\r\n'.length);
    expect(rest).toBe(framing === '' ? '\r\n' : `${framing}\r\n\r\n`);
  });

  test.each(INJECTIONS)('cannot be ended or continued by %j', (text) => {
    const attacks: Partial<OutgoingRequest>[] = [
      { method: `GET${text}` },
      { path: `/a${text}b` },
      { host: `server${text}` },
      { headers: ['X-A', `a${text}b`] },
      { headers: [`X${text}A`, 'a'] },
      { method: 'POST', body: { source, trailers: { announced: text, read: () => [] } } },
    ];
    for (const attack of attacks) expect(() => headOf(attack)).toThrow('cannot be written');
    expect(() => lastChunk([['X-A', text]])).toThrow('cannot be written');
    expect(() => lastChunk([[`X${text}`, 'a']])).toThrow('cannot be written');
  });

  test.each([' ', '\t', '\x7f', '\x01'])('has no %j in its first line', (text) => {
    expect(() => headOf({ method: `GET${text}x` })).toThrow('cannot be written');
    expect(() => headOf({ path: `/a${text}HTTP/1.1` })).toThrow('cannot be written');
    expect(() => headOf({ host: `a${text}b` })).toThrow('cannot be written');
  });

  test.each(['', 'X A', 'X:', 'X:A', ' X', '(X)', 'X\xe9'])(
    'has no field with the name %j',
    (name) => {
      expect(() => headOf({ headers: [name, 'a'] })).toThrow('cannot be written');
    },
  );

  test.each([
    ...['Content-Length', 'content-length', 'TRANSFER-ENCODING', 'Host', 'Connection', 'Upgrade'],
    ...['Trailer', 'TE', 'Expect', 'Keep-Alive', 'Proxy-Connection', 'HTTP2-Settings'],
  ])('has no %s but its own', (name) => {
    expect(() => headOf({ headers: [name, '1'] })).toThrow('cannot be written');
    expect(() => lastChunk([[name, '1']])).toThrow('cannot be written');
  });

  test.each([-1, NaN, 1.5, Infinity, 2 ** 53])('has no length of %d', (length) => {
    expect(() => headOf({ body: { source, length } })).toThrow('cannot be written');
  });

  test('has a method and a path', () => {
    expect(() => headOf({ method: '' })).toThrow('cannot be written');
    expect(() => headOf({ path: '' })).toThrow('cannot be written');
  });
});
