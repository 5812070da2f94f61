import { expect, test } from '@jest/globals';

import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';
import { hashToken } from '../../../../proxy/crypto/tokens.ts';
import { isOrigin, originOf, type Origin } from '../../../../shared/snapshot/origin.ts';

test.each([
  [{ scheme: 'https', host: 'a.example', port: 443 }, 'https://a.example'],
  [{ scheme: 'http', host: 'a.example', port: 443 }, 'http://a.example:443'],
  [{ scheme: 'http', host: '[::1]', port: 80 }, 'http://[::1]'],
  [{ scheme: 'https', host: '*.a.example', port: 8443 }, 'https://*.a.example:8443'],
] as const)('%j has the origin %s', (address, origin) => {
  expect(originOf(address)).toBe(origin);
  expect(isOrigin(origin)).toBe(true);
});

test.each([
  'a.example',
  'ftp://a.example',
  'https://',
  'https://a.example/',
  'https://a.example/path',
  'https://user@a.example',
  'https://a.example?query',
])('%s is not an origin', (text) => {
  expect(isOrigin(text)).toBe(false);
});

test('a URL in place of an origin does not compile', async () => {
  const url = 'https://a.example/path';
  // @ts-expect-error -- a string is not an origin
  const origin: Origin = url;
  const { browserSessions } = createMemoryStores();
  const hash = hashToken('cookie');
  // @ts-expect-error -- a session of a browser is for an origin
  await browserSessions.save(hash, { sessionId: 'session-1', origin: url }, Date.now() + 60_000);
  expect(isOrigin(origin)).toBe(false);
});
