import { expect, test } from '@jest/globals';

import { isAcceptedLicense } from '../../../../image/contents/accepted-licenses.ts';

test.each(['MIT', '(MIT OR GPL-3.0-only)', 'GPL-2.0-only OR Apache-2.0', 'MIT AND ISC'])(
  'a package under %s may be in the image',
  (license) => {
    expect(isAcceptedLicense(license)).toBe(true);
  },
);

test.each([
  'GPL-3.0-only',
  'MIT AND GPL-3.0-only',
  'MIT AND (ISC OR GPL-3.0-only)',
  'SEE LICENSE IN LICENSE.md',
  'UNLICENSED',
  'no licence',
  '',
])('a package under "%s" may not be in the image', (license) => {
  expect(isAcceptedLicense(license)).toBe(false);
});
