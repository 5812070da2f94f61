import { hostname } from 'node:os';

import { describe, expect, test } from '@jest/globals';

import { readArguments } from '../../../cli/arguments.ts';
import {
  CONTROLLER_LINE,
  readControllerFlags,
  type ControllerFlags,
} from '../../../cli/commands/controller/controller-flags.ts';
import { UsageError } from '../../../cli/usage-error.ts';

describe('gatehouse controller', () => {
  test('serves the class gatehouse from all namespaces by default', () => {
    expect(read('--push-tls-dir', '/tls')).toEqual({
      pushListen: { host: expect.stringMatching(/^(::|0\.0\.0\.0)$/), port: 8444 },
      pushTlsDirectory: '/tls',
      pushAddress: `${hostname()}:8444`,
      namespace: undefined,
      watchNamespaces: undefined,
      gatewayClass: 'gatehouse',
      settingsName: 'gatehouse',
      proxyServiceAccount: { name: 'gatehouse-proxy' },
      proxyService: { name: 'gatehouse-proxy' },
      deletionDelayMs: 30_000,
      kubeconfig: undefined,
      adminListen: { host: expect.stringMatching(/^(::|0\.0\.0\.0)$/), port: 9090 },
    });
  });

  test.each([
    { listen: '127.0.0.1:1', address: undefined, expected: '127.0.0.1:1' },
    { listen: ':2', address: '10.0.0.7:2', expected: '10.0.0.7:2' },
    { listen: ':2', address: '[fd00::7]:2', expected: '[fd00::7]:2' },
  ])('tells proxies to dial $expected', ({ listen, address, expected }) => {
    const given = address === undefined ? [] : ['--push-address', address];

    const options = read('--push-tls-dir', '/tls', '--push-listen', listen, ...given);

    expect(options.pushAddress).toBe(expected);
  });

  test('says where the namespace comes from that is not given', () => {
    const { namespace } = CONTROLLER_LINE.flags;

    expect(namespace?.description).toMatch('that of the pod, or of the context of the kubeconfig');
  });

  test('reads a list of namespaces', () => {
    const { watchNamespaces } = read('--push-tls-dir', '/tls', '--watch-namespaces', 'a, b');

    expect(watchNamespaces).toEqual(['a', 'b']);
  });

  test('finds the proxies in a namespace of their own', () => {
    const given = ['--proxy-service-account', 'proxies/account', '--proxy-service', 'proxies/web'];

    expect(read('--push-tls-dir', '/tls', ...given)).toMatchObject({
      proxyServiceAccount: { namespace: 'proxies', name: 'account' },
      proxyService: { namespace: 'proxies', name: 'web' },
    });
  });

  test.each([
    { argv: [], message: '--push-tls-dir DIR (or GATEHOUSE_PUSH_TLS_DIR) is required' },
    { argv: ['--push-listen', ':1,:2'], message: '--push-listen takes one address' },
    { argv: ['--push-address', ':8444'], message: '--push-address takes one address, with a host' },
    { argv: ['--watch-namespaces', 'a,B'], message: '--watch-namespaces: "B" is not a name' },
    { argv: ['--gateway-class', '../x'], message: '--gateway-class: "../x" is not a name' },
    { argv: ['--proxy-service', 'a/b/c'], message: '--proxy-service: "a/b/c" is not NAME or' },
    { argv: ['--proxy-service-account', '/b'], message: '"/b" is not NAME or NAMESPACE/NAME' },
    { argv: ['--deletion-delay', '30'], message: '--deletion-delay: "30" is not a duration' },
  ])('refuses $argv', ({ argv, message }) => {
    const rest = argv.length === 0 ? [] : ['--push-tls-dir', '/tls', ...argv];

    expect(() => read(...rest)).toThrow(message);
    expect(() => read(...rest)).toThrow(UsageError);
  });
});

function read(...argv: readonly string[]): ControllerFlags {
  return readControllerFlags(readArguments(CONTROLLER_LINE, argv, {}));
}
