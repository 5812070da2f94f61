import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TASKSET = '/usr/bin/taskset';

/** Whether processes can be pinned to a core on this machine. */
export const canPin = existsSync(TASKSET) && availableParallelism() > 1;

/** Starts a TypeScript program with an IPC channel, pinned to one core if possible. */
export function startOnCore(core: number, program: string, args: readonly string[]): ChildProcess {
  const command = [process.execPath, '--disable-warning=DEP0060', program, ...args];
  const [file = '', ...rest] = canPin ? [TASKSET, '-c', String(core), ...command] : command;
  return spawn(file, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** Pins this process to one core if possible. */
export function moveToCore(core: number): void {
  if (canPin) execFileSync(TASKSET, ['-a', '-cp', String(core), String(process.pid)]);
}
