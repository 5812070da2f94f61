import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

const PROGRAM = join(import.meta.dirname, '../../../cli/gatehouse.js');

test('a Node that is too old is told which one is needed, and where a checkout has it', () => {
  const older = `Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } });`;
  const args = [`--import=data:text/javascript,${encodeURIComponent(older)}`, PROGRAM, '--help'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^gatehouse: needs Node 24 or newer, and this is 20\.20\.2; .*node_modules\/\.bin\/node is one\n$/,
  );
});
