import fc from 'fast-check';

import type { SentResponse } from './recorded-response.ts';

/** A value that is mostly usual, and at times one of the others. */
function mostly(usual: readonly string[], odd: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );
}

const lineBreak = mostly(['\r\n'], ['\n', '\r', '\r\r\n', '\n\r', '']);
const separator = mostly([': ', ':'], [':\t', ':  ', ' :', '\t:', '', ' ', ':\r\n ', '::']);
const space = mostly([''], [' ', '\t', '  ', ' \t ', '\t ']);

const startLine = fc
  .tuple(
    mostly(['HTTP/1.1'], ['HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'HTTP/1.10', '\r\nHTTP/1.1']),
    mostly([' '], ['', '  ', '\t']),
    mostly(['200', '404', '204', '304', '599'], ['000', '600', '20', '2000', '101', '2x0']),
    mostly([' OK', ' ', ''], [' a b', ' \xfc', ' \0', '\tOK', '  ', ' a\tb']),
  )
  .map((parts) => parts.join(''));

const framingField = fc.oneof(
  fc.tuple(
    mostly(['Content-Length'], ['content-length', 'CONTENT-LENGTH']),
    mostly(['5', '0', '12'], ['', '05', '5, 5', '+5', '-1', '5x', '0x5', '99999999999999999999']),
  ),
  fc.tuple(
    mostly(['Transfer-Encoding'], ['transfer-encoding']),
    mostly(['chunked', 'Chunked'], ['gzip', 'gzip, chunked', 'chunked, gzip', '', 'chunked;a=b']),
  ),
  fc.tuple(
    mostly(['Connection'], ['connection', 'Proxy-Connection']),
    mostly(['close', 'keep-alive'], ['Close', 'keep-alive, close', 'x', 'upgrade', ',close,', '']),
  ),
  fc.constant<[string, string]>(['Keep-Alive', 'timeout=5']),
);

const otherField = fc.tuple(
  mostly(
    ['A', 'Set-Cookie', 'Trailer', 'X-Long-Name', 'Upgrade'],
    ['', 'A B', 'A(', '\xe9', ' A', "!#$%&'*+-.^_`|~9", 'a\0'],
  ),
  mostly(['b', 'a b', 'A', ''], ['b\tc', '\xe9', 'b\0', '\x7f', '\x1b', 'b:c', '"b']),
);

const fieldLine = fc
  .tuple(
    fc.oneof({ weight: 1, arbitrary: framingField }, { weight: 2, arbitrary: otherField }),
    separator,
    space,
    lineBreak,
  )
  .map(([[name, value], colon, end, ending]) => `${name}${colon}${value}${end}${ending}`);

/** Most heads say once how long the body is. */
const framing = mostly(
  ['Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', ''],
  ['Content-Length: 5\r\nContent-Length: 5\r\n', 'Connection: close\r\n'],
);

const fieldLines = fc
  .tuple(fc.array(fieldLine, { maxLength: 3 }), framing, fc.array(fieldLine, { maxLength: 1 }))
  .map(([before, own, after]) => [...before, own, ...after].join(''));

const head = fc.tuple(startLine, lineBreak, fieldLines, lineBreak).map((parts) => parts.join(''));

const information = fc
  .tuple(
    mostly(['HTTP/1.1 103 Early Hints', 'HTTP/1.1 100 Continue'], ['HTTP/1.0 103 X']),
    lineBreak,
    fc.array(fieldLine, { maxLength: 1 }),
    lineBreak,
  )
  .map(([line, ending, fields, end]) => `${line}${ending}${fields.join('')}${end}`);

const chunk = fc
  .tuple(
    mostly(['5', '005'], ['4', '6', 'g', '', '-5', '0x5', ' 5', '20000000000000']),
    mostly([''], [';a', ';a=b', ';a="b;c"', ';', ' ', ';a=', ';=b', '; a', ';a="b', ';a="\t\\""']),
    lineBreak,
    mostly(['hello'], ['hell', 'hello!', '\r\n\0\xff ']),
    lineBreak,
  )
  .map((parts) => parts.join(''));

const chunks = fc
  .tuple(
    fc.array(chunk, { maxLength: 2 }),
    mostly(['0\r\n', '000\r\n'], ['0;a\r\n', '0\n', '0', '']),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.array(fieldLine, { maxLength: 2 }) },
    ),
    lineBreak,
  )
  .map(([data, last, trailers, end]) => `${data.join('')}${last}${trailers.join('')}${end}`);

const body = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('hello', '', 'hell', 'hello!') },
  { weight: 3, arbitrary: chunks },
);

interface Mutation {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  remove: fc.nat({ max: 2 }),
  insert: fc.constantFrom('', ' ', '\t', '\r', '\n', '\r\n', '\0', ':', '0', 'a', ';', ',', '\x80'),
});

const mutations = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Mutation[]>([]) },
  { weight: 1, arbitrary: fc.array(mutation, { maxLength: 2 }) },
);

/** The response to a request: mostly whole and valid, with odd parts, and bytes changed at random. */
export function aResponse(): fc.Arbitrary<SentResponse> {
  return fc
    .record({
      method: fc.constantFrom('GET', 'GET', 'POST', 'HEAD'),
      parts: fc.tuple(fc.oneof(fc.constant(''), fc.constant(''), information), head, body),
      changes: mutations,
    })
    .map(({ method, parts, changes }) => ({
      method,
      bytes: changes.reduce((bytes, change) => mutate(bytes, change), parts.join('')),
    }));
}

function mutate(bytes: string, { at, remove, insert }: Mutation): string {
  const index = at % (bytes.length + 1);
  return bytes.slice(0, index) + insert + bytes.slice(index + remove);
}
