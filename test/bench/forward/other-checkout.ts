import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
const TESTS = 'test';

/**
 * Makes a folder with the product of another checkout and the tests of this one, so that both products are
 * measured by the same programs. The other checkout must have its dependencies. Returns the folder of these
 * programs.
 */
export async function combineCheckouts(other: string, folder: string): Promise<string> {
  await mkdir(folder);
  for (const name of await readdir(other)) {
    if (name !== TESTS) await symlink(resolve(other, name), join(folder, name));
  }
  for (const part of ['support', 'bench/support', 'bench/forward']) {
    await cp(join(ROOT, TESTS, part), join(folder, TESTS, part), { recursive: true });
  }
  return join(folder, TESTS, 'bench/forward');
}
