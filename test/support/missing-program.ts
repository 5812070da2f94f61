import { delimiter, join } from 'node:path';

import { isExecutable } from './is-executable.ts';

/** Returns why a program cannot run here; undefined if it can. */
export function whyMissing(program: string): string | undefined {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  if (directories.some((directory) => isExecutable(join(directory, program)))) return undefined;
  return `no ${program} is installed; run test/support/install-system-packages.sh`;
}
