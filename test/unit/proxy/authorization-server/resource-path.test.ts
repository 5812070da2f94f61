import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { tidyPath, withoutSlash } from '../../../../proxy/authorization-server/resource-path.ts';

test('A path loses the slashes at its end, and nothing else', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(5), (path, slashes) => {
      expect(withoutSlash(path + '/'.repeat(slashes))).toBe(path.replace(/\/+$/, ''));
    }),
  );
});

test('Tidying a tidy path does not change it', () => {
  const path = fc
    .array(fc.constantFrom('/', '.', '%2e', 'a', '%2F'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(path, (untidy) => {
      const tidy = tidyPath(`/${untidy}`);
      expect(tidy === null ? null : tidyPath(tidy)).toBe(tidy);
      expect(tidy ?? '').not.toMatch(/\/\/|\/$/);
    }),
  );
});
