import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { Cost } from './cost.ts';

/** bash prints the times of a process that has ended, which Node does not know: in milliseconds. */
const TIME = 'TIMEFORMAT="times %R %U %S"; time "$@" >/dev/null';

/** Runs a program to its end, and returns what that cost. Throws if it fails. */
export async function runToEnd(
  command: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Cost> {
  const { stderr } = await promisify(execFile)('/bin/bash', ['-c', TIME, 'bash', ...command], {
    env: { ...variables, LC_ALL: 'C' },
  });
  const [, wall, user, system] = /^times (\S+) (\S+) (\S+)$/m.exec(stderr) ?? [];
  return { cpuMs: (Number(user) + Number(system)) * 1000, wallMs: Number(wall) * 1000 };
}
