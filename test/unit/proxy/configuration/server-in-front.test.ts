import { expect, test } from '@jest/globals';

import { isServerInFront } from '../../../../proxy/configuration/server-in-front.ts';

const SETTINGS = { trustedProxies: ['10.1.0.0/16', 'fd00:1::/32'] };

test.each([
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['fd00:1::5', true],
  ['127.0.0.1', true],
  ['::ffff:127.0.0.1', true],
  ['::1', true],
  ['10.2.0.1', false],
  ['fd00:2::5', false],
  ['', false],
])('the address %j is that of a server in front: %p', (address, expected) => {
  expect(isServerInFront(address, SETTINGS)).toBe(expected);
});

test('only loopback is a server in front before the first snapshot', () => {
  expect(isServerInFront('10.1.2.3', undefined)).toBe(false);
  expect(isServerInFront('127.0.0.1', undefined)).toBe(true);
});
