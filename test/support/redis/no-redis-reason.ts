import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Why there can be no Redis here; undefined when there can. */
export const noRedisReason = missing('redis-server') ?? missing('cc');

function missing(program: string): string | undefined {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  if (directories.some((directory) => isExecutable(join(directory, program)))) return undefined;
  return `no ${program} is installed; run test/support/install-system-packages.sh`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
