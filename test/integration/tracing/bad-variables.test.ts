import { describe, expect, test } from '@jest/globals';

import { runGatehouse } from '../../support/cli.ts';

const COMMANDS = [
  ['run', '--config', 'nowhere'],
  ['validate', '-f', 'crds/examples'],
  ['controller', '--push-tls-dir', 'nowhere'],
  [
    'proxy',
    ...['--controller', 'https://127.0.0.1:1', '--controller-ca', 'nowhere'],
    ...['--token-file', 'nowhere', '--proxy-id', 'proxy-0', '--redis-url', 'redis://127.0.0.1:1'],
    ...['--sealing-keys-dir', 'nowhere'],
  ],
];

describe('a process with a bad variable about tracing', () => {
  test.each(COMMANDS)('does not start: gatehouse %s', async (...argv) => {
    const result = await runGatehouse(argv, { OTEL_BSP_SCHEDULE_DELAY: '99' });

    expect(result).toMatchObject({
      code: 1,
      stderr:
        'gatehouse: OTEL_BSP_SCHEDULE_DELAY must be a whole number of milliseconds from 100 to 2147483647\n',
    });
  });
});
