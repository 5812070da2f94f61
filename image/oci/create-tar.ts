import { runProgram } from '../run-program.ts';

/** Whatever user and clock this machine has, the same files give the same bytes. */
const REPRODUCIBLE = [
  '--create',
  '--format=gnu',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--mtime=@0',
  '--no-recursion',
];

/** Packs files and folders, named relative to a folder, in the order of their names. */
export async function createTar(
  file: string,
  folder: string,
  paths: readonly string[],
): Promise<void> {
  await runProgram('tar', [...REPRODUCIBLE, '--file', file, '--directory', folder, ...paths]);
}
