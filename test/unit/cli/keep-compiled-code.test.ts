import { spawnSync } from 'node:child_process';

import { expect, test } from '@jest/globals';

const PROGRAM = `
import { keepCompiledCode } from './cli/process/keep-compiled-code.ts';
keepCompiledCode();
`;

test('V8 has the flag that keeps compiled code', () => {
  const args = ['--input-type=module', '--eval', PROGRAM];
  // V8 prints an error for a flag that it does not have, and ignores it.
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});
