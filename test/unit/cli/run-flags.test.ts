import { describe, expect, test } from '@jest/globals';

import { readArguments } from '../../../cli/arguments.ts';
import { readRunFlags, RUN_LINE, type RunFlags } from '../../../cli/commands/run/run-flags.ts';
import { UsageError } from '../../../cli/usage-error.ts';

describe('gatehouse run', () => {
  test('listens on loopback by default', () => {
    expect(read('--config', 'x')).toEqual({
      path: 'x',
      listen: [{ host: '127.0.0.1', port: 8080 }],
      listenTls: [{ host: '127.0.0.1', port: 8443, isTls: true }],
      adminListen: { host: '127.0.0.1', port: 9090 },
      redis: undefined,
      sealingKeysDirectory: undefined,
      stateDirectory: undefined,
      connectionLimits: { total: 20_000, perClient: 2_000 },
      accessLog: false,
      devAllowLoopback: false,
    });
  });

  test.each([
    { text: '0.0.0.0:80', addresses: [{ host: '0.0.0.0', port: 80 }] },
    { text: '[::1]:8080', addresses: [{ host: '::1', port: 8080 }] },
    { text: 'localhost:1', addresses: [{ host: 'localhost', port: 1 }] },
    {
      text: '127.0.0.1:1, [::1]:2',
      addresses: [
        { host: '127.0.0.1', port: 1 },
        { host: '::1', port: 2 },
      ],
    },
    {
      text: ':8080',
      addresses: [{ host: expect.stringMatching(/^(::|0\.0\.0\.0)$/), port: 8080 }],
    },
  ])('listens on $text', ({ text, addresses }) => {
    expect(read('--config', 'x', '--listen', text).listen).toEqual(addresses);
  });

  test.each(['8080', 'localhost', '127.0.0.1:99999', '::1:8080', 'a:b', '', ',', 'http://x:1'])(
    'refuses to listen on "%s"',
    (text) => {
      expect(() => read('--config', 'x', `--listen=${text}`)).toThrow('--listen');
    },
  );

  test('refuses two admin addresses', () => {
    expect(() => read('--config', 'x', '--admin-listen', ':1,:2')).toThrow('takes one address');
  });

  test.each([
    { flag: '--listen', address: '0.0.0.0:8080' },
    { flag: '--listen', address: '127.0.0.1:8080,10.0.0.1:8080' },
    { flag: '--listen', address: ':8080' },
    { flag: '--listen', address: 'gateway.example:8080' },
    { flag: '--admin-listen', address: ':9090' },
  ])('refuses the development flag with $flag $address', ({ flag, address }) => {
    const attempt = (): RunFlags => read('--config', 'x', flag, address, '--dev-allow-loopback');
    expect(attempt).toThrow('--dev-allow-loopback is refused');
  });

  test.each(['127.0.0.1:1', '127.8.8.8:1', '[::1]:1', 'localhost:1'])(
    'takes the development flag with --listen %s',
    (address) => {
      const options = read('--config', 'x', '--listen', address, '--dev-allow-loopback');
      expect(options.devAllowLoopback).toBe(true);
    },
  );
});

describe('State in Redis', () => {
  const URL = 'redis://:secret@redis.example';

  test.each(['--sealing-keys-dir', '--state-dir'])('is taken with %s', (flag) => {
    const { redis } = read('--config', 'x', '--redis-url', URL, flag, 'keys');
    expect(redis).toEqual({ kind: 'url', value: URL });
  });

  test('is taken from a file, and from variables', () => {
    const keys = ['--config', 'x', '--state-dir', 'state'];
    const file = { kind: 'file', value: '/run/redis' };
    expect(read(...keys, '--redis-url-file', '/run/redis').redis).toEqual(file);
    const variables = { GATEHOUSE_REDIS_URL_FILE: '/run/redis' };
    expect(readRunFlags(readArguments(RUN_LINE, keys, variables)).redis).toEqual(file);
  });

  test.each(['--redis-url', '--redis-url-file'])(
    'needs keys that outlive the process, with %s',
    (flag) => {
      const attempt = (): RunFlags => read('--config', 'x', flag, URL);
      expect(attempt).toThrow(UsageError);
      expect(attempt).toThrow(
        /--sealing-keys-dir or --state-dir is required: .* lost when it ends$/,
      );
    },
  );

  test('has one URL', () => {
    const keys = ['--config', 'x', '--state-dir', 'state', '--redis-url', URL];
    const both = (): RunFlags => read(...keys, '--redis-url-file', '/run/redis');
    expect(both).toThrow('give one of them');
    const variables = { GATEHOUSE_REDIS_URL_FILE: '/run/redis' };
    const oneAsVariable = (): RunFlags => readRunFlags(readArguments(RUN_LINE, keys, variables));
    expect(oneAsVariable).toThrow('give one of them');
  });
});

function read(...argv: readonly string[]): RunFlags {
  return readRunFlags(readArguments(RUN_LINE, argv, {}));
}
