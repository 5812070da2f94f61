import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';

import { type Architecture, MACHINE_ARCHITECTURE } from '../architectures.ts';
import { findProgram, runProgram } from '../run-program.ts';

/**
 * Each build gives the same bytes: compiled code holds hashes of names, which depend on seeds, and remains of memory, which
 * depend on when garbage is collected. So the seeds are fixed, and there is room for a load without a collection.
 */
const REPEATABLE = [
  '--hash-seed=1',
  '--random-seed=1',
  '--min-semi-space-size=256',
  '--max-semi-space-size=256',
  '--initial-old-space-size=1024',
];
/** In the tree, and removed after use. */
const TOOLS = '/tmp/build';

/**
 * Compiles files of the program with the Node of the tree, and keeps the compiled code beside them.
 *
 * Node runs with the tree as its root: compiled code holds the path of its source, which would be one of the
 * machine that built it. So Node and its libraries are also tried here, before anybody runs the image.
 */
export async function fillCompileCache(
  root: string,
  files: readonly string[],
  architecture: Architecture,
): Promise<void> {
  await mkdir(join(root, TOOLS));
  const script = `${TOOLS}/load-into-cache.js`;
  await cp(join(import.meta.dirname, 'load-into-cache.js'), join(root, script));
  const emulator = await addEmulator(root, architecture);
  const node = [...emulator, '/usr/local/bin/node', ...REPEATABLE, script, '/app', ...files];
  // Other users than root become root of a namespace of their own.
  if (process.getuid?.() === 0) await runProgram('chroot', [root, ...node]);
  else await runProgram('unshare', ['--map-root-user', 'chroot', root, ...node]);
  await rm(join(root, TOOLS), { recursive: true });
}

/** Programs of another architecture need one of this machine that runs them. */
async function addEmulator(root: string, architecture: Architecture): Promise<readonly string[]> {
  if (architecture.name === MACHINE_ARCHITECTURE) return [];
  const path = `${TOOLS}/emulator`;
  await cp(findProgram(architecture.emulator), join(root, path));
  return [path];
}
