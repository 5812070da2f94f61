import { expect, test } from '@jest/globals';

import { isCidr } from '../../../../controller/compile/cidr.ts';

test.each([
  '10.0.0.0/8',
  '0.0.0.0/0',
  '127.0.0.1/32',
  '::1/128',
  'fd00::/8',
  '::ffff:10.0.0.0/104',
])('%s is an address range', (text) => {
  expect(isCidr(text)).toBe(true);
});

test.each([
  '10.0.0.0',
  '10.0.0.0/33',
  '10.0.0/8',
  '256.0.0.0/8',
  '010.0.0.0/8',
  '10.0.0.0.0/8',
  '::1/129',
  ':::/8',
  'fg00::/8',
  'example.com/8',
  '/8',
])('%s is not an address range', (text) => {
  expect(isCidr(text)).toBe(false);
});
