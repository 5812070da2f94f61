import { delimiter, join } from 'node:path';

import { isExecutable } from '../is-executable.ts';

/** The reason why no Redis can run here; undefined if it can. */
export const noRedisReason = missing('redis-server') ?? missing('cc');

function missing(program: string): string | undefined {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  if (directories.some((directory) => isExecutable(join(directory, program)))) return undefined;
  return `no ${program} is installed; run test/support/install-system-packages.sh`;
}
