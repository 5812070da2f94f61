import { describe, expect, test } from '@jest/globals';

import { ResponseParser } from '../../../../proxy/upstream-client/response-parser.ts';
import {
  recordInEverySplit,
  recordResponse,
  recordResponses,
  type SentResponse,
  type RecordedResponse,
} from '../../../support/recorded-response.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('A response is read', () => {
  test.each<[string, SentResponse, Partial<RecordedResponse>]>([
    [
      'with a length',
      { bytes: OK },
      { status: 200, reason: 'OK', fields: ['Content-Length', '2'], body: 'ok', trailers: [] },
    ],
    [
      'with an empty body',
      { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' },
      { trailers: [] },
    ],
    [
      'without a reason phrase',
      { bytes: 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n' },
      { reason: '', trailers: [] },
    ],
    [
      'without a reason phrase and its space',
      { bytes: 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n' },
      { reason: '', trailers: [] },
    ],
    [
      'with a reason phrase beyond ASCII',
      { bytes: 'HTTP/1.1 404 Nicht da \xfc:\r\nContent-Length: 0\r\n\r\n' },
      { status: 404, reason: 'Nicht da \xfc:' },
    ],
    [
      'with the highest status',
      { bytes: 'HTTP/1.1 599 X\r\nContent-Length: 0\r\n\r\n' },
      { status: 599 },
    ],
    [
      'with fields in their order and spelling, and values without the spaces around',
      {
        bytes:
          "HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nX!#$%&'*+-.^_`|~9:\r\nX-A:\t b \t c\xe9 \t \r\nSet-Cookie:b:2\r\nContent-Length:0 \r\n\r\n",
      },
      {
        fields: [
          ...['set-cookie', 'a=1', "X!#$%&'*+-.^_`|~9", '', 'X-A', 'b \t c\xe9 \t'],
          ...['Set-Cookie', 'b:2', 'Content-Length', '0'],
        ],
        trailers: [],
      },
    ],
    [
      'after informational ones',
      {
        bytes: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`,
      },
      {
        informational: [
          { status: 100, fields: [] },
          { status: 103, fields: ['Link', '</a>'] },
        ],
        status: 200,
        body: 'ok',
        trailers: [],
      },
    ],
    [
      'in chunks',
      { bytes: `${CHUNKED}5\r\nhello\r\n00A\r\n, in chunk\r\n1\r\ns\r\n0\r\n\r\n` },
      { body: 'hello, in chunks', trailers: [] },
    ],
    [
      'in chunks with extensions',
      { bytes: `${CHUNKED}2;a;b=1;c="\\"; \xe9";\r\nhi\r\n0;last\r\n\r\n`.replace('";\r', '"\r') },
      { body: 'hi', trailers: [] },
    ],
    [
      'in chunks with trailers',
      { bytes: `${CHUNKED}2\r\nhi\r\n000\r\nX-Sum: 1\r\nx-sum:\t2\t\r\n\r\n` },
      { body: 'hi', trailers: ['X-Sum', '1', 'x-sum', '2\t'] },
    ],
    [
      'in chunks, whatever the case of the coding',
      {
        bytes: 'HTTP/1.1 200 OK\r\ntransfer-ENCODING: Chunked\r\nTrailer: X-B\r\n\r\n0\r\n\r\n',
      },
      { body: '', trailers: [] },
    ],
  ])('%s', (_what, given, expected) => {
    expect(recordInEverySplit(given)).toMatchObject({ isReusable: true, ...expected });
    expect(recordInEverySplit({ ...given, ends: true })).toMatchObject({
      ...expected,
      isReusable: false,
    });
  });

  test.each<[string, SentResponse]>([
    ['to HEAD, with a length', { method: 'HEAD', bytes: OK.slice(0, -2) }],
    ['to HEAD, with chunks', { method: 'HEAD', bytes: CHUNKED }],
    ['to HEAD, without either', { method: 'HEAD', bytes: 'HTTP/1.1 200 OK\r\n\r\n' }],
    ['with status 204', { bytes: 'HTTP/1.1 204 No Content\r\n\r\n' }],
    ['with status 304', { bytes: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n' }],
  ])('without a body %s', (_what, given) => {
    expect(recordInEverySplit(given)).toMatchObject({ body: '', trailers: [], isReusable: true });
  });

  test.each<[string, string]>([
    ['of HTTP/1.1', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\n'],
  ])('%s up to the end of the connection, if it has no length', (_version, head) => {
    const bytes = `${head}until the end`;
    expect(recordInEverySplit({ bytes, ends: true })).toMatchObject({
      body: 'until the end',
      trailers: [],
    });
    const unended = recordInEverySplit({ bytes });
    expect(unended).toMatchObject({ body: 'until the end', isReusable: false });
    expect(unended).not.toHaveProperty('trailers');
    expect(recordInEverySplit({ bytes: head, ends: true })).toMatchObject({
      body: '',
      trailers: [],
    });
  });

  test('after the one before, without its facts', () => {
    const heads: string[] = [];
    const parser = new ResponseParser({
      onInformation: () => heads.push('informational'),
      onHead: (status) => heads.push(String(status)),
      onBody: (chunk) => heads.push(chunk.toString()),
      onEnd: () => heads.push('end'),
    });
    const keepAlive = 'Connection: keep-alive\r\nKeep-Alive: timeout=5, max=10';
    parser.expectResponse('HEAD');
    parser.feed(Buffer.from(`HTTP/1.1 200 OK\r\n${keepAlive}\r\nContent-Length: 9\r\n\r\n`));
    expect(parser.keepAliveSeconds).toBe(5);
    parser.expectResponse('GET');
    parser.feed(Buffer.from(`${CHUNKED}1\r\na\r\n0\r\nX: 1\r\n\r\n`));
    expect(parser.keepAliveSeconds).toBeUndefined();
    parser.expectResponse('GET');
    parser.feed(Buffer.from(`${CHUNKED}1\r\nb\r\n0\r\n\r\n`));
    parser.expectResponse('GET');
    parser.feed(Buffer.from(OK));
    expect(heads).toStrictEqual([
      ...['200', 'end'],
      ...['200', 'a', 'end', '200', 'b', 'end'],
      ...['200', 'ok', 'end'],
    ]);
    expect(parser.isReusable).toBe(true);
  });
});

/** Heads that differ in few bytes, or in none that their lines have in common. */
const SIMILAR: readonly string[] = [
  'Content-Length: 0\r\n',
  'Content-Length: 1\r\n',
  'Content-Length: 0\r\nA: b\r\n',
  'Content-Length: 0\r\nA: c\r\n',
  'Content-Length: 0\r\nA: b\r\nA: b\r\n',
  'content-length: 0\r\nA: b\r\n',
  'Content-Length: 00\r\n',
  'A: b\r\nContent-Length: 0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 0\r\nKeep-Alive: timeout=9\r\n',
  `Content-Length: 0\r\nA: ${'b'.repeat(3_000)}\r\n`,
];

test('A response is read in the same way after any other', () => {
  const responses = SIMILAR.flatMap((fields) => {
    const bytes = `HTTP/1.1 200 OK\r\n${fields}\r\n`;
    return [
      { method: 'HEAD', bytes },
      { method: 'HEAD', bytes: bytes.replace('200', '203') },
    ];
  });
  for (const before of responses) {
    for (const response of responses) {
      const [, ...after] = recordResponses([before, response, response]);
      const alone = recordResponse(response);
      expect({ before, after }).toStrictEqual({ before, after: [alone, alone] });
    }
  }
});

test('A refused response is refused after any other, too', () => {
  const refused = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n';
  for (const end of ['\r', '\n', '\rX', 'A\r\n\r\n', ' \r\n\r\n']) {
    const [, record] = recordResponses([
      { bytes: `${refused}\r\n` },
      { bytes: `${refused}${end}`, ends: true },
    ]);
    expect(record).toStrictEqual(recordResponse({ bytes: `${refused}${end}`, ends: true }));
    expect(record).toHaveProperty('refused');
  }
});

describe('A connection is not used again after a response', () => {
  test.each<[string, SentResponse]>([
    ['of HTTP/1.0', { bytes: 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n' }],
    [
      'of HTTP/1.0 that wants to keep it',
      { bytes: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n' },
    ],
    [
      'that closes it',
      { bytes: 'HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n' },
    ],
    [
      'that closes it in a list',
      { bytes: 'HTTP/1.1 200 OK\r\nConnection: x,\tcLose ,y\r\nContent-Length: 0\r\n\r\n' },
    ],
    [
      'that closes it in a second field',
      {
        bytes:
          'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
      },
    ],
    ['of status 204 with a length', { bytes: 'HTTP/1.1 204 X\r\nContent-Length: 1\r\n\r\n' }],
    ['of status 304 with a length', { bytes: 'HTTP/1.1 304 X\r\nContent-Length: 1\r\n\r\n' }],
    [
      'of status 304 with chunks',
      { bytes: 'HTTP/1.1 304 X\r\nTransfer-Encoding: chunked\r\n\r\n' },
    ],
    [
      'after an informational one with a length',
      { bytes: `HTTP/1.1 103 X\r\nContent-Length: 1\r\n\r\n${OK}` },
    ],
  ])('%s', (_what, given) => {
    expect(recordInEverySplit(given)).toMatchObject({ trailers: [], isReusable: false });
  });

  test.each<[string, string, string]>([
    ['with a length', OK, 'GET'],
    ['without a body', OK.slice(0, -2), 'HEAD'],
    ['in chunks', `${CHUNKED}0\r\n\r\n`, 'GET'],
    ['with trailers', `${CHUNKED}0\r\nX: 1\r\n\r\n`, 'GET'],
  ])('%s that more bytes follow, together or apart', (_what, bytes, method) => {
    const together = recordResponse({ method, bytes: `${bytes}H` });
    expect(together).toMatchObject({ trailers: expect.anything(), isReusable: false });
    expect(together).not.toHaveProperty('refused');
    expect(recordResponse({ method, bytes }, [bytes, 'H'])).toStrictEqual(together);
  });

  test('that was never asked for', () => {
    const reports: unknown[] = [];
    const report = (...report: unknown[]): unknown => reports.push(report);
    const parser = new ResponseParser({
      onInformation: report,
      onHead: report,
      onBody: report,
      onEnd: report,
    });
    expect(parser.isReusable).toBe(true);
    expect(() => parser.feed(Buffer.from(OK))).toThrow('no response was expected');
    expect(parser.isReusable).toBe(false);
    expect(() => parser.expectResponse('GET')).toThrow('cannot take a request');
    expect(reports).toStrictEqual([]);
  });
});
