import { hostname } from 'node:os';

import { describe, expect, test } from '@jest/globals';

import { readArguments } from '../../../cli/arguments.ts';
import {
  PROXY_LINE,
  readProxyFlags,
  type ProxyFlags,
} from '../../../cli/commands/proxy/proxy-flags.ts';
import { UsageError } from '../../../cli/usage-error.ts';

const REQUIRED = {
  '--controller': 'https://push.gatehouse.svc:8444',
  '--controller-ca': '/ca.crt',
  '--redis-url': 'redis://redis',
  '--sealing-keys-dir': '/keys',
};

describe('gatehouse proxy', () => {
  test('needs to know controllers, Redis and keys, and no more', () => {
    expect(read(REQUIRED)).toEqual({
      controller: new URL('https://push.gatehouse.svc:8444'),
      controllerCa: '/ca.crt',
      tokenFile: '/var/run/secrets/gatehouse/token',
      proxyId: hostname(),
      gateway: 'gatehouse',
      listen: [{ host: expect.stringMatching(/^(::|0\.0\.0\.0)$/), port: 8080 }],
      listenTls: [{ host: expect.stringMatching(/^(::|0\.0\.0\.0)$/), port: 8443, isTls: true }],
      adminListen: { host: expect.stringMatching(/^(::|0\.0\.0\.0)$/), port: 9090 },
      redis: { kind: 'url', value: 'redis://redis' },
      sealingKeysDirectory: '/keys',
      cacheDirectory: undefined,
      drainDelayMs: 10_000,
      drainTimeoutMs: 60_000,
      connectionLimits: { total: 20_000, perClient: 2_000 },
      accessLog: false,
    });
  });

  test.each(Object.keys(REQUIRED))('refuses to start without %s', (flag) => {
    const rest = Object.fromEntries(Object.entries(REQUIRED).filter(([name]) => name !== flag));

    expect(() => read(rest)).toThrow(flag);
    expect(() => read(rest)).toThrow(UsageError);
  });

  test.each(['http://push:8444', 'https://push:8444/path', 'push:8444', 'https://a@push:8444'])(
    'refuses the controller %s',
    (controller) => {
      expect(() => read({ ...REQUIRED, '--controller': controller })).toThrow(
        '--controller must be https://HOST:PORT',
      );
    },
  );
});

function read(flags: Readonly<Record<string, string>>): ProxyFlags {
  const argv = Object.entries(flags).flat();
  return readProxyFlags(readArguments(PROXY_LINE, argv, {}));
}
