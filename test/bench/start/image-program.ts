import { join } from 'node:path';

import { MACHINE_ARCHITECTURE } from '../../../image/architectures.ts';
import { runProgram } from '../../../image/run-program.ts';
import type { CommandProgram } from '../../support/cli.ts';

const MAIN = join(import.meta.dirname, '../../../image/main.ts');

/** Builds the files of the image in a directory, and returns the program that they hold, with its compiled code. */
export async function buildImageProgram(directory: string): Promise<CommandProgram> {
  await runProgram(process.execPath, [MAIN, '--tree-only', '--out', directory]);
  const root = join(directory, `gatehouse-image-${MACHINE_ARCHITECTURE}`);
  const node = join(root, 'usr/local/bin/node');
  const script = join(root, 'app/cli/gatehouse.js');
  // The variable would give it the cache of the program in the checkout.
  return ['/usr/bin/env', '-u', 'NODE_COMPILE_CACHE', node, '--enable-source-maps', script];
}
