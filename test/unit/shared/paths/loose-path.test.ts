import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { loosePath } from '../../../../shared/paths/loose-path.ts';

/** The loose reading, one rule after the other. */
function model(path: string): string {
  return path
    .replace(/%[0-7][\da-f]/gi, (encoded) =>
      String.fromCharCode(Number.parseInt(encoded.slice(1), 16)),
    )
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .replace(/\/+/g, '/')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

describe('the loose reading of a path', () => {
  test.each([
    ['/a/b', '/a/b'],
    ['/A%62%2Fc', '/ab/c'],
    ['/a;x=1/b;y', '/a/b'],
    ['/a%3bx/b', '/a/b'],
    ['/a//%2f/b', '/a/b'],
    ['/;/a', '/a'],
    ['\\a%5Cb', '/a/b'],
    ['/%2541', '/%41'],
    ['/%', '/%'],
    ['/%4', '/%4'],
    ['/%4g%c3%A9', '/%4g%c3%a9'],
    ['/%00', '/\0'],
    ['/caf\u00e9/\u{1f600}A', '/caf\u00e9/\u{1f600}a'],
  ])('%s is read as %s', (path, read) => {
    expect(loosePath(path)).toBe(read);
  });

  test('follows its rules one after the other', () => {
    const parts = ['/', '\\', ';', '%', '2', 'f', 'F', '5', 'c', '4', 'a', 'Z', '.', 'g', '\u00c9'];
    const path = fc.string({
      unit: fc.constantFrom(...parts, '%2f', '%3B', '%5C', '%41'),
      maxLength: 30,
    });
    fc.assert(
      fc.property(path, (text) => {
        expect(loosePath(text)).toBe(model(text));
      }),
      { numRuns: 5_000 },
    );
  });
});
