import { expect, test } from '@jest/globals';

import { freshSeconds } from '../../../../proxy/outbound/freshness.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const BOUNDS = { minSeconds: 60, maxSeconds: 86_400, defaultSeconds: 300 };

test.each([
  ['nothing', {}, 300],
  ['max-age', { 'cache-control': 'max-age=600' }, 600],
  ['max-age among others', { 'cache-control': 'public, Max-Age=600, immutable' }, 600],
  ['quoted max-age', { 'cache-control': 'max-age="600"' }, 600],
  ['s-maxage, which is for shared caches', { 'cache-control': 'max-age=70, s-maxage=900' }, 900],
  ['the first of two', { 'cache-control': 'max-age=600, max-age=900' }, 600],
  ['a time too long', { 'cache-control': 'max-age=31536000' }, 86_400],
  ['a time too short', { 'cache-control': 'max-age=1' }, 60],
  ['max-age=0', { 'cache-control': 'max-age=0' }, 60],
  ['no-cache', { 'cache-control': 'no-cache, max-age=600' }, 60],
  ['unreadable max-age', { 'cache-control': 'max-age=soon' }, 60],
  ['no-store', { 'cache-control': 'no-store, max-age=600' }, 0],
  ['an age', { 'cache-control': 'max-age=600', age: '200' }, 400],
  ['an age past max-age', { 'cache-control': 'max-age=600', age: '700' }, 60],
  ['unreadable age', { 'cache-control': 'max-age=600', age: '-5' }, 600],
  ['expires', { expires: 'Sat, 21 Nov 2026 12:10:00 GMT' }, 600],
  [
    'expires after its own date',
    { expires: 'Sat, 21 Nov 2026 12:10:00 GMT', date: 'Sat, 21 Nov 2026 12:05:00 GMT' },
    300,
  ],
  ['expires in the past', { expires: 'Sat, 21 Nov 2026 11:00:00 GMT' }, 60],
  ['unreadable expires', { expires: '0' }, 60],
  [
    'max-age over expires',
    { 'cache-control': 'max-age=600', expires: 'Sat, 21 Nov 2026 11:00:00 GMT' },
    600,
  ],
])('keeps a response with %s for the right time', (_title, headers, expected) => {
  expect(freshSeconds(headers, BOUNDS, NOW)).toBe(expected);
});
