import { spawnSync } from 'node:child_process';

import { expect, test } from '@jest/globals';

const MODULE = new URL('../../../../shared/telemetry/process-log.ts', import.meta.url).href;

/** What a process wrote to its standard output, which is a pipe. */
function outputOf(end: string): string {
  const program = `
    import { openProcessLog } from ${JSON.stringify(MODULE)};
    const lines = openProcessLog(process.stdout);
    lines.write('first\\n');
    setImmediate(() => {
      lines.write('last\\n');
      ${end}
    });
  `;
  const options = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', program];
  return spawnSync(process.execPath, options, { encoding: 'utf8' }).stdout;
}

test.each([
  ['ends', ''],
  ['exits', 'process.exit(1);'],
  ['crashes', `throw new Error('crash');`],
  ['crashes in a promise', `Promise.reject(new Error('crash'));`],
])('a process that %s has written all lines of its log', (_how, end) => {
  expect(outputOf(end)).toBe('first\nlast\n');
});
