import { describe, expect, test } from '@jest/globals';

import type { ResponseDefect } from '../../../../proxy/upstream-client/malformed-response-error.ts';
import { recordInEverySplit } from '../../../support/recorded-response.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const withField = (line: string): string => `HTTP/1.1 200 OK\r\n${line}\r\nA: b\r\n\r\n`;
const withStatus = (status: string): string => `HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`;

describe('A response is refused', () => {
  test.each<[ResponseDefect, readonly string[]]>([
    [
      'not-http',
      [
        ...['\r\n', ' HTTP/1.1 200 OK\r\n\r\n', 'http/1.1 200 OK\r\n\r\n', 'SMTP ready', '\0'],
        ...['HTTP/2.0 200 OK\r\n\r\n', 'HTTP/1.2 200 OK\r\n\r\n', 'HTTP/0.9 200 OK\r\n\r\n'],
        ...['HTTP/1.10 200 OK\r\n\r\n', 'HTTP/1 200 OK\r\n\r\n', 'HTTP/11 200 OK\r\n\r\n'],
        ...['HTTP/1.1\t200 OK\r\n\r\n', 'HTTP/1.1\r\n\r\n', 'ICY 200 OK\r\n\r\n'],
        `\r\n${OK}`,
      ],
    ],
    [
      'bad-status',
      [
        ...['000', '001', '099', '600', '999', '20', '2', '', '2000', '-20', '+20', '2x0', '0x1'],
        ...['2e2', ' 200', '200OK', '200\tOK', '\xb2\xb200', '20\xb3'],
      ].map(withStatus),
    ],
    [
      'closing-information',
      [`HTTP/1.1 103 X\r\nConnection: close\r\n\r\n${OK}`, `HTTP/1.0 103 X\r\n\r\n${OK}`],
    ],
    [
      'framing-in-trailers',
      ['Content-Length: 0', 'content-length: x', 'Transfer-Encoding: chunked'].map(
        (trailer) => `${CHUNKED}0\r\nA: b\r\n${trailer}\r\n\r\n`,
      ),
    ],
    ['unexpected-upgrade', [withStatus('101 X'), withStatus('101')]],
    [
      'bare-line-break',
      [
        ...['HTTP/1.1 200 OK\n', 'HTTP/1.1 200 OK\rX', 'HTTP/1.1 200 OK\r\n\n'],
        ...['HTTP/1.1 200 OK\r\r\n\r\n', 'HTTP/1.1 200 OK\r\nA: b\n\r\n\r\n'],
        ...[withField('A: b\rC: d'), withField('A: b\nC: d'), withField('A: b\r'), withField('\n')],
        ...['HTTP/1.1 200 OK\r\nA: b\r\n\rX', `${CHUNKED}0\r\n\rX`, `${CHUNKED}0\r\nA: b\n\r\n`],
        ...[`${CHUNKED}0\r\nA: b\r\n\n`],
      ],
    ],
    [
      'control-character',
      [
        ...['\0', '\x01', '\x08', '\x0b', '\x0c', '\x1b', '\x7f'].flatMap((character) => [
          withField(`A: b${character}`),
          withField(`A${character}: b`),
          withStatus(`200 O${character}K`),
        ]),
        `${CHUNKED}0\r\nA: \0\r\n\r\n`,
      ],
    ],
    [
      'bad-field-name',
      [
        ...[
          ': b',
          'A : b',
          'A\t: b',
          'A',
          'A b: c',
          'A(: b',
          'A,: b',
          'A/: b',
          '"A": b',
          'A\xe9: b',
        ],
      ]
        .map(withField)
        .concat(`${CHUNKED}0\r\nA : b\r\n\r\n`, `${CHUNKED}0\r\nA\r\n\r\n`),
    ],
    [
      'folded-field',
      [
        withField(' A: b'),
        withField('X: a\r\n b'),
        withField('X: a\r\n\tb'),
        withField(' '),
      ].concat(`${CHUNKED}0\r\nA: b\r\n c\r\n\r\n`, `${CHUNKED}0\r\n b\r\n\r\n`),
    ],
    [
      'bad-content-length',
      [
        ...['', '-1', '+1', '1.0', '0x1', '1e3', '1 1', '1,1', '1, 1', '1;', '"1"', 'one', '\xb2'],
        ...['9007199254740992', '18446744073709551617', '9'.repeat(400)],
        ...['1\r\nContent-Length: 1', '1\r\nX: y\r\ncontent-length: 2', '0\r\nCONTENT-LENGTH:'],
      ].map((value) => withField(`Content-Length: ${value}`)),
    ],
    [
      'bad-transfer-encoding',
      [
        ...[
          '',
          'gzip',
          'gzip, chunked',
          'chunked, gzip',
          'chunked, chunked',
          'identity',
          'xchunked',
        ],
        ...[
          'chunked;',
          'chunked;q=1',
          'chunked\t',
          'chunked \t ',
          ',chunked',
          'chunked,',
          '"chunked"',
          'chunke\xe4',
        ],
        ...['chunked\r\nTransfer-Encoding: chunked', 'chunked\r\nTransfer-Encoding: gzip'],
      ].map((value) => withField(`Transfer-Encoding: ${value}`)),
    ],
    [
      'length-and-chunks',
      [
        withField('Content-Length: 0\r\nTransfer-Encoding: chunked'),
        withField('Transfer-Encoding: chunked\r\nContent-Length: 5'),
        'HTTP/1.1 204 X\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n',
      ],
    ],
    ['chunked-in-http-1.0', ['HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n']],
    [
      'bad-chunk',
      [
        ...[
          '\r\n',
          'g\r\n',
          '-1\r\n',
          '+1\r\n',
          '0x1\r\n',
          ' 1\r\n',
          '1 \r\n',
          '1\t;a\r\n',
          ';a\r\n',
        ],
        ...['1\n', '1\rX', '20000000000000\r\n', 'f'.repeat(17), '0'.repeat(2_000), '\xb2\r\n'],
        ...['1\r\nab', '1\r\na\n', '1\r\na\rX', '0\n', '0\rX', '1\r\na0'],
        ...[';\r\n', ';a=\r\n', '; a\r\n', ';a =b\r\n', ';a="b\r\n', ';a=b c\r\n', ';a=\0\r\n'].map(
          (extension) => `1${extension}`,
        ),
        ...[';a\nb\r\n', ';a="\n"\r\n', ';;a\r\n', `;${'a'.repeat(2_000)}`].map((e) => `1${e}`),
      ].map((rest) => `${CHUNKED}${rest}`),
    ],
  ])('with %s', (code, responses) => {
    for (const bytes of responses) {
      expect({ bytes, ...recordInEverySplit({ bytes }) }).toMatchObject({ bytes, refused: code });
    }
  });

  test('after what came before the malformed chunk', () => {
    expect(recordInEverySplit({ bytes: `${CHUNKED}2\r\nhi\r\n3\r\nmalformed` })).toMatchObject({
      body: 'himal',
      refused: 'bad-chunk',
    });
  });

  test.each<[ResponseDefect, readonly string[]]>([
    ['no-response', ['']],
    [
      'cut-head',
      ['H', 'HTTP/1.1 200 OK\r\n', withField('A: b').slice(0, -1), 'HTTP/1.1 100 X\r\n\r\n'],
    ],
    [
      'cut-body',
      [
        ...[OK.slice(0, -1), OK.slice(0, -2), CHUNKED, `${CHUNKED}1`, `${CHUNKED}1\r\na\r\n`],
        ...[`${CHUNKED}0\r\n`, `${CHUNKED}0\r\n\r`, `${CHUNKED}0\r\nA: b\r\n`],
      ],
    ],
  ])('with %s when the connection ends', (code, responses) => {
    for (const bytes of responses) {
      const record = recordInEverySplit({ bytes, ends: true });
      expect({ bytes, ...record }).toMatchObject({ bytes, refused: code, isReusable: false });
      expect(record).not.toHaveProperty('trailers');
    }
  });
});
