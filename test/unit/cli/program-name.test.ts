import { expect, test } from '@jest/globals';

import { programName } from '../../../cli/program-name.ts';
import { runCommandLine } from '../../../cli/run-command-line.ts';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';

async function called(program: string, ...argv: readonly string[]): Promise<string> {
  const output = new PassThrough();
  await runCommandLine(argv, { environment: {}, stdout: output, stderr: output }, program);
  output.end();
  return text(output);
}

test.each([
  { script: '/usr/local/bin/kubectl-gatehouse', program: 'kubectl gatehouse' },
  { script: '/usr/local/bin/gatehouse', program: 'gatehouse' },
  { script: '/app/cli/gatehouse.js', program: 'gatehouse' },
  { script: '', program: 'gatehouse' },
])('a program at "$script" was called as $program', ({ script, program }) => {
  expect(programName(script)).toBe(program);
});

test('usage texts have the name by which the program was called', async () => {
  expect(await called('kubectl gatehouse', 'status', '--nope')).toContain(
    'See: kubectl gatehouse status --help',
  );
  expect(await called('kubectl gatehouse', 'routes', '--help')).toMatch(
    /^Usage: kubectl gatehouse routes \[FLAGS\]\n/,
  );
  expect(await called('gatehouse', 'help', 'routes')).toMatch(/^Usage: gatehouse routes /);
});

test('the plugin shows the commands for users of a cluster, and knows the others too', async () => {
  const overview = await called('kubectl gatehouse', 'help');

  expect(overview).toMatch(/^Usage: kubectl gatehouse COMMAND/);
  expect(overview).toContain('\n  status ');
  expect(overview).not.toContain('\n  proxy ');
  expect(await called('kubectl gatehouse', 'proxy', '--help')).toContain('--cache-dir');
});
