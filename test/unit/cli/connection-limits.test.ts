import { expect, test } from '@jest/globals';

import { readArguments } from '../../../cli/arguments.ts';
import { readRunFlags, RUN_LINE } from '../../../cli/commands/run/run-flags.ts';
import { UsageError } from '../../../cli/usage-error.ts';

test('the bounds of connections are flags, and 0 is no bound', () => {
  const argv = ['--config', 'x', '--max-connections', '500', '--max-connections-per-client=0'];
  const { connectionLimits } = readRunFlags(readArguments(RUN_LINE, argv, {}));
  expect(connectionLimits).toEqual({ total: 500, perClient: 0 });
});

test.each(['-1', '1e3', 'many', '', '1.5', '10000000'])(
  'a bound of connections of %j is refused, and the flag is named',
  (value) => {
    const argv = ['--config', 'x', `--max-connections-per-client=${value}`];
    const attempt = (): unknown => readRunFlags(readArguments(RUN_LINE, argv, {}));
    expect(attempt).toThrow(UsageError);
    expect(attempt).toThrow('--max-connections-per-client');
  },
);
