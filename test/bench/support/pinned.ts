import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const TASKSET = '/usr/bin/taskset';

/** The measured process has one core to itself; the load and the upstream share another. */
export const SUBJECT_CORE = 0;
/** See `SUBJECT_CORE`. */
export const LOAD_CORE = 1;

/** Whether processes can be pinned to a core on this machine. */
export const canPin = existsSync(TASKSET) && availableParallelism() > 1;

/** Returns a command that runs a command on one core, if possible. It keeps its process id. */
export function onCore(core: number, command: readonly string[]): readonly string[] {
  return canPin ? [TASKSET, '-c', String(core), ...command] : command;
}

/** Pins this process to one core if possible, or else prints what that means. */
export function moveToCore(core: number): void {
  if (canPin) execFileSync(TASKSET, ['-a', '-cp', String(core), String(process.pid)]);
  else console.log('processes cannot be pinned to cores: ratios are less certain');
}
