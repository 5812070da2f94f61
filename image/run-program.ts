import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const MAX_OUTPUT = 64 * 1024 * 1024;
const runFile = promisify(execFile);

/** Names in Debian of the packages that bring a program. */
const PACKAGES: Readonly<Record<string, string>> = {
  'apt-get': 'apt',
  'dpkg-deb': 'dpkg',
  'eu-readelf': 'elfutils',
  'eu-strip': 'elfutils',
  'qemu-aarch64-static': 'qemu-user-static',
  'qemu-x86_64-static': 'qemu-user-static',
};

/** Runs a program to its end, and returns what it printed. Rejects if it fails. */
export async function runProgram(
  program: string,
  args: readonly string[],
  cwd?: string,
): Promise<string> {
  const options = { maxBuffer: MAX_OUTPUT, ...(cwd !== undefined && { cwd }) };
  const { stdout } = await runFile(findProgram(program), [...args], options);
  return stdout;
}

/** Finds the file of a program. Throws if there is none. */
export function findProgram(program: string): string {
  if (program.includes('/')) return program;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
  if (found !== undefined) return found;
  const name = PACKAGES[program] ?? program;
  throw new Error(
    `${program} is missing: the image is built on Debian, with its package ${name} installed`,
  );
}
