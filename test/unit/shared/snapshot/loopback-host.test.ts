import { expect, test } from '@jest/globals';

import { isLoopbackHost } from '../../../../shared/snapshot/loopback-host.ts';

test.each([
  ['localhost', true],
  ['LOCALHOST', true],
  ['mcp.localhost', true],
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['[::1]', true],
  ['localhost.example.com', false],
  ['notlocalhost', false],
  ['127.0.0.1.example.com', false],
  ['128.0.0.1', false],
  ['0.0.0.0', false],
  ['[::2]', false],
])('%s is loopback: %s', (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback);
});
