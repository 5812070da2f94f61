import { describe, expect, test } from '@jest/globals';

import { safeReturnPath } from '../../../../../proxy/identity/sign-in/return-path.ts';

describe('safeReturnPath', () => {
  test.each([
    '/',
    '/a/b?c=d&e=%2F%2Fx#f',
    '/a//b',
    '/%5Cattacker.example',
    '/@attacker.example',
    `/${'a'.repeat(2047)}`,
  ])('keeps %j', (path) => {
    expect(safeReturnPath(path)).toBe(path);
  });

  test.each([
    ['a host', '//attacker.example'],
    ['a host after more slashes', '///attacker.example'],
    ['a backslash that browsers read as a slash', '/\\attacker.example'],
    ['a backslash further on', '/a\\b'],
    ['a tab that browsers drop', '/\t/attacker.example'],
    ['a line break', '/a\r\nset-cookie: x=y'],
    ['a space', '/a b'],
    ['a NUL', '/\0'],
    ['a DEL', '/\x7f'],
    ['what is not ASCII', '/\u00e9'],
    ['a whole URL', 'https://attacker.example/'],
    ['a script', 'javascript:alert(1)'],
    ['a relative path', 'a'],
    ['nothing', ''],
    ['more than fits into a URL', `/${'a'.repeat(2048)}`],
  ])('replaces %s', (_case, path) => {
    expect(safeReturnPath(path)).toBe('/');
  });

  test('returns only paths that stay on the host', () => {
    for (const path of ['//x', '/\\x', '/@x', '/a', '/.//x', '/%2F/x', '/:80', '/?//x', '/#@x']) {
      expect(new URL(`https://app.example${safeReturnPath(path)}`).host).toBe('app.example');
    }
  });
});
