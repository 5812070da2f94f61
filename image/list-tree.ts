import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A file, folder or link of a tree. */
export interface TreeEntry {
  /** Relative to the root of the tree. */
  readonly path: string;
  readonly entry: Dirent;
}

/** Lists a tree, sorted by path, each folder before what it holds. Links are not followed, as `readdir` would. */
export async function listTree(root: string, folder = ''): Promise<readonly TreeEntry[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const listed: TreeEntry[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    listed.push({ path, entry });
    if (entry.isDirectory()) listed.push(...(await listTree(root, path)));
  }
  return listed;
}
