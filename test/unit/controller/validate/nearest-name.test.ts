import { describe, expect, test } from '@jest/globals';

import { nearestName } from '../../../../controller/validate/nearest-name.ts';

describe('nearestName', () => {
  test.each([
    { name: 'emial', known: ['email', 'domain'], nearest: 'email' },
    {
      name: 'max_request_byte',
      known: ['path', 'max_request_bytes'],
      nearest: 'max_request_bytes',
    },
    { name: 'cookieExpiration', known: ['cookie_expiration'], nearest: 'cookie_expiration' },
    { name: 'from', known: ['to', 'prefix'], nearest: undefined },
    { name: 'zzzzzz', known: ['from', 'to'], nearest: undefined },
    { name: 'x', known: [], nearest: undefined },
  ])('for $name of $known is $nearest', ({ name, known, nearest }) => {
    expect(nearestName(name, known)).toBe(nearest);
  });
});
