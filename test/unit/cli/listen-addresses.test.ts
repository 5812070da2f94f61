import { describe, expect, test } from '@jest/globals';

import { listenAddresses } from '../../../cli/flags/listen-addresses.ts';
import { formatAddress } from '../../../shared/runtime/listen-address.ts';
import type { Snapshot } from '../../../shared/snapshot/snapshot.ts';
import { compileOnce } from '../../support/compile-once.ts';

const LISTEN = [{ host: '127.0.0.1', port: 8080 }];

describe('listenAddresses', () => {
  test.each([
    { from: ['http://localhost:8081'], addresses: ['127.0.0.1:8081', '[::1]:8081'] },
    { from: ['http://127.0.0.1:8081'], addresses: ['127.0.0.1:8081', '[::1]:8081'] },
    { from: ['http://mcp.localhost:8081'], addresses: ['127.0.0.1:8081', '[::1]:8081'] },
    { from: ['http://localhost:8080'], addresses: [] },
    { from: ['http://example.com:8081', 'https://example.com:8443'], addresses: [] },
    { from: ['https://localhost'], addresses: [] },
    {
      from: ['http://localhost:8081', 'http://a.localhost:8081', 'http://localhost:8082'],
      addresses: ['127.0.0.1:8081', '[::1]:8081', '127.0.0.1:8082', '[::1]:8082'],
    },
  ])('adds $addresses for routes from $from', ({ from, addresses }) => {
    const wanted = listenAddresses(snapshot(from), LISTEN, true).map(formatAddress);
    expect(wanted).toEqual(['127.0.0.1:8080', ...addresses]);
  });

  test('adds ports for TLS for loopback origins with https', () => {
    const wanted = listenAddresses(snapshot(['https://localhost:8444']), LISTEN, true);
    expect(wanted.slice(LISTEN.length)).toEqual([
      { host: '127.0.0.1', port: 8444, isTls: true },
      { host: '::1', port: 8444, isTls: true },
    ]);
  });

  test('adds the sign-in host', () => {
    const wanted = listenAddresses(snapshot([], 'http://localhost:8089'), LISTEN, true);
    expect(wanted.map(formatAddress)).toContain('127.0.0.1:8089');
  });

  test('takes one family only where the machine has no ::1', () => {
    const wanted = listenAddresses(snapshot(['http://localhost:8081']), LISTEN, false);
    expect(wanted.map(formatAddress)).toEqual(['127.0.0.1:8080', '127.0.0.1:8081']);
  });
});

function snapshot(from: readonly string[], authenticateUrl?: string): Snapshot {
  const base = { apiVersion: 'gatehouse.dev/v1alpha1' } as const;
  const routes = from.map((address, index) => ({
    ...base,
    kind: 'Route' as const,
    metadata: { name: `r${String(index)}` },
    spec: { from: address, to: 'http://up', allowPublicUnauthenticatedAccess: true },
  }));
  const settings = {
    ...base,
    kind: 'GatewaySettings' as const,
    metadata: { name: 'gatehouse' },
    spec: authenticateUrl === undefined ? {} : { authenticateUrl },
  };
  const resources = { routes, settings, secrets: new Map() };
  const compiled = compileOnce(resources, { devAllowLoopback: true });
  expect(compiled.problems).toEqual([]);
  return compiled.snapshot;
}
