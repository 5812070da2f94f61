import { chmod, lutimes, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { listTree } from './list-tree.ts';

const EVERYONE_EXECUTES = 0o755;
const EVERYONE_READS = 0o644;
/** Everyone writes, and deletes only what is their own. */
const TEMPORARY = 0o1777;
const OWNER_EXECUTES = 0o100;

/** Gives all files the permissions and times that the image has, whatever umask and clock this machine has. */
export async function normalizeTree(root: string): Promise<void> {
  for (const { path, entry } of await listTree(root)) {
    const file = join(root, path);
    if (!entry.isSymbolicLink()) await chmod(file, await modeOf(file));
    await lutimes(file, 0, 0);
  }
  await chmod(join(root, 'tmp'), TEMPORARY);
  await chmod(root, EVERYONE_EXECUTES);
  await lutimes(root, 0, 0);
}

async function modeOf(path: string): Promise<number> {
  const stats = await stat(path);
  const executes = stats.isDirectory() || (stats.mode & OWNER_EXECUTES) !== 0;
  return executes ? EVERYONE_EXECUTES : EVERYONE_READS;
}
