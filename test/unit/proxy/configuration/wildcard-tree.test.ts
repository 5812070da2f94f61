import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { WildcardTree } from '../../../../proxy/configuration/wildcard-tree.ts';

describe('the longest wildcard of a name', () => {
  const tree = new WildcardTree([
    ...['app.example.com:443', '*.example.com:443', '*.a.example.com:443', '*.a.example.com:80'],
    ...['*.b.example.com:8443', '*.localhost:80'],
  ]);

  test.each([
    ['x.example.com', ':443', '*.example.com:443'],
    ['x.y.example.com', ':443', '*.example.com:443'],
    ['x.a.example.com', ':443', '*.a.example.com:443'],
    ['x.a.example.com', ':80', '*.a.example.com:80'],
    ['a.example.com', ':443', '*.example.com:443'],
    ['a.example.com', ':80', undefined],
    ['x.b.example.com', ':443', '*.example.com:443'],
    ['example.com', ':443', undefined],
    ['.example.com', ':443', undefined],
    ['com', ':443', undefined],
    ['x.localhost', ':80', '*.localhost:80'],
    ['x.example.com.', ':443', undefined],
    ['[::1]', ':443', undefined],
  ])('of %s%s is %s', (name, port, key) => {
    expect(tree.find(name, port)).toBe(key);
  });

  test('is found as by trying each wildcard', () => {
    const name = fc
      .array(fc.constantFrom('a', 'b', 'com'), { minLength: 1, maxLength: 5 })
      .map((labels) => labels.join('.'));
    const port = fc.constantFrom(':80', ':443');
    const key = fc.tuple(name, port).map(([domain, at]) => `*.${domain}${at}`);
    fc.assert(
      fc.property(fc.array(key), name, port, (keys, wanted, at) => {
        const [longest] = keys
          .filter((each) => (wanted + at).endsWith(each.slice(1)))
          .sort((one, other) => other.length - one.length);
        expect(new WildcardTree(keys).find(wanted, at)).toBe(longest);
      }),
    );
  });
});
