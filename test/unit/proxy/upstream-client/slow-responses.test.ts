import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';

import type { ResponseDefect } from '../../../../proxy/upstream-client/malformed-response-error.ts';
import { ResponseParser } from '../../../../proxy/upstream-client/response-parser.ts';
import { WorkMeter } from '../../../support/abuse/work-meter.ts';
import { openForAll } from '../../../support/open-for-all.ts';
import { recordResponse } from '../../../support/recorded-response.ts';

const KIBIBYTE = 1_024;
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Responses that get longer in one place, by the number of bytes there. */
const GROWING: Readonly<Record<string, (length: number) => string>> = {
  'a value': (length) => `HTTP/1.1 204 X\r\nA: ${'b'.repeat(length)}\r\n\r\n`,
  'a name': (length) => `HTTP/1.1 204 X\r\n${'a'.repeat(length)}: b\r\n\r\n`,
  'space before a value': (length) => `HTTP/1.1 204 X\r\nA:${' '.repeat(length)}b\r\n\r\n`,
  'space after a value': (length) => `HTTP/1.1 204 X\r\nA: b${' '.repeat(length)}\r\n\r\n`,
  fields: (length) => `HTTP/1.1 204 X\r\n${'A: b\r\n'.repeat(length / 6)}\r\n`,
  'the reason phrase': (length) => `HTTP/1.1 204 ${'b'.repeat(length)}\r\n\r\n`,
  trailers: (length) => `${CHUNKED}0\r\n${'A: b\r\n'.repeat(length / 6)}\r\n`,
  'chunks of one byte': (length) => `${CHUNKED}${'1\r\na\r\n'.repeat(length / 6)}0\r\n\r\n`,
  extensions: (length) => `${CHUNKED}${'1;a=b\r\na\r\n'.repeat(length / 10)}0\r\n\r\n`,
};

const meter = openForAll(() => WorkMeter.start());

// Attack: bytes one at a time, where each is searched or copied together with all before.
describe('A response costs in proportion to its length, at once and byte by byte, with long', () => {
  test.each(Object.entries(GROWING))('%s', async (_what, grow) => {
    const costOf = async (length: number, feed: (bytes: string) => string[]): Promise<number> => {
      const copy = jest.spyOn(Buffer.prototype, 'copy');
      const bytes = grow(length);
      const { blocks, characters } = await meter().measure(() =>
        Promise.resolve(recordResponse({ bytes }, feed(bytes))),
      );
      const copied = copy.mock.results.reduce((sum, { value }) => sum + Number(value), 0);
      copy.mockRestore();
      return blocks + characters + copied;
    };
    for (const feed of [(bytes: string) => [bytes], (bytes: string) => Array.from(bytes)]) {
      const short = await costOf(2_000, feed);
      const long = await costOf(16_000, feed);
      expect(long).toBeGreaterThan(0);
      expect(long / short).toBeLessThan(2 * (16_000 / 2_000));
    }
  });
});

test('Chunks of one byte that arrive together are passed on together', () => {
  const chunks: string[] = [];
  const parser = new ResponseParser({
    onInformation: () => undefined,
    onHead: () => undefined,
    onBody: (chunk) => chunks.push(chunk.toString()),
    onEnd: () => chunks.push('end'),
  });
  parser.expectResponse('GET');
  parser.feed(Buffer.from(`${CHUNKED}1\r\na\r\n1\r\nb\r\n2\r\ncd\r\n3\r\ne`));
  parser.feed(Buffer.from('fg\r\n1\r\nh\r\n0\r\n\r\n'));
  expect(chunks).toStrictEqual(['abcde', 'fgh', 'end']);
});

describe('A response that never ends is refused', () => {
  test.each<[string, ResponseDefect, string, string]>([
    ['in a value', 'too-large', 'HTTP/1.1 200 OK\r\nA: ', 'b'],
    ['in a name', 'too-large', 'HTTP/1.1 200 OK\r\n', 'a'],
    ['in its fields', 'too-large', 'HTTP/1.1 200 OK\r\n', 'A: b\r\n'],
    ['in the reason phrase', 'too-large', 'HTTP/1.1 200 ', 'b'],
    ['in trailers', 'too-large', `${CHUNKED}0\r\n`, 'A: b\r\n'],
    ['in an extension', 'bad-chunk', `${CHUNKED}1;`, 'a'],
    ['in the size of a chunk', 'bad-chunk', CHUNKED, '0'],
    ['in informational ones', 'too-many-informational', '', 'HTTP/1.1 103 X\r\n\r\n'],
  ])('%s, however it comes', (_where, code, begin, part) => {
    const bytes = begin + part.repeat((30 * KIBIBYTE) / part.length);
    expect(recordResponse({ bytes })).toMatchObject({ refused: code });
    expect(recordResponse({ bytes }, Array.from(bytes))).toMatchObject({ refused: code });
  });

  test('unless it is not longer than allowed', () => {
    const head = (length: number): string =>
      `HTTP/1.1 204 X\r\nA: ${'b'.repeat(length - 'HTTP/1.1 204 X\r\nA: \r\n\r\n'.length)}\r\n\r\n`;
    const longest = head(20 * KIBIBYTE);
    const longer = head(20 * KIBIBYTE + 1);
    for (const parts of [(bytes: string) => [bytes], (bytes: string) => Array.from(bytes)]) {
      expect(recordResponse({ bytes: longest }, parts(longest))).toMatchObject({ trailers: [] });
      expect(recordResponse({ bytes: longer }, parts(longer))).toMatchObject({
        refused: 'too-large',
      });
    }
  });
});

test('Any bytes are read or refused, and nothing else is thrown', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'HTTP/1.1 200 OK\r\n',
      CHUNKED,
      '\r\n',
      '\r\n\r\n',
      'A: b\r\n',
      '1\r\n',
      '0\r\n',
    ),
    fc.string({ unit: fc.integer({ max: 255, min: 0 }).map((code) => String.fromCharCode(code)) }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), fc.boolean(), (parts, ends) => {
      const bytes = parts.join('');
      expect(recordResponse({ bytes, ends }, parts)).toEqual(recordResponse({ bytes, ends }));
    }),
    { numRuns: 500 },
  );
});
