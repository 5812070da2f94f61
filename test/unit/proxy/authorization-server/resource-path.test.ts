import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { tidyPath, withoutSlash } from '../../../../proxy/authorization-server/resource-path.ts';

test('A path is shorn of the slashes at its end, and of nothing else', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(5), (path, slashes) => {
      expect(withoutSlash(path + '/'.repeat(slashes))).toBe(path.replace(/\/+$/, ''));
    }),
  );
});

test('A tidy path is as tidy as it gets', () => {
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
