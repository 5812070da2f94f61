import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { PrefixTree } from '../../../../proxy/configuration/prefix-tree.ts';

function treeOf(prefixes: readonly string[]): PrefixTree<string> {
  const tree = new PrefixTree<string>();
  for (const prefix of prefixes) tree.add(prefix, prefix);
  return tree;
}

describe('the longest prefix of a path', () => {
  test.each([
    ['/a', '/a'],
    ['/a/', '/a'],
    ['/a/b', '/a'],
    ['/a/b/c', '/a/b/c'],
    ['/a/b/c/d', '/a/b/c'],
    ['/ab', undefined],
    ['/', undefined],
    ['//a', undefined],
    ['/b/c', undefined],
  ])('of %s is %s', (path, prefix) => {
    expect(treeOf(['/a', '/a/b/c']).find(path)).toBe(prefix);
  });

  test('is found as by trying each prefix', () => {
    const path = fc
      .array(fc.constantFrom('', 'a', 'b', 'ab'), { minLength: 1, maxLength: 5 })
      .map((segments) => `/${segments.join('/')}`);
    fc.assert(
      fc.property(fc.array(path), path, (prefixes, wanted) => {
        const [longest] = prefixes
          .filter((prefix) => wanted === prefix || wanted.startsWith(`${prefix}/`))
          .sort((one, other) => other.length - one.length);
        expect(treeOf(prefixes).find(wanted)).toBe(longest);
      }),
    );
  });
});
