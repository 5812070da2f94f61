import { readdirSync, readFileSync } from 'node:fs';

const NANOSECONDS_PER_MICROSECOND = 1000;

/**
 * Returns the ids of a process and of its descendants, as Linux shows them in `/proc`.
 *
 * Throws if the process does not exist.
 */
export function processTree(pid: number): readonly number[] {
  const children = tasksOf(pid).flatMap((task) => numbersIn(`${task}/children`));
  return [pid, ...children.flatMap((child) => processTree(child))];
}

/**
 * Returns the CPU time in microseconds that the threads of a process and of its descendants have used so
 * far. It is exact to the nanosecond, where `/proc/PID/stat` counts in steps of ten milliseconds. Threads that
 * have ended are not counted.
 */
export function cpuOfTree(pid: number): number {
  const times = processTree(pid)
    .flatMap(tasksOf)
    .map((task) => numbersIn(`${task}/schedstat`)[0] ?? 0);
  return times.reduce((sum, time) => sum + time, 0) / NANOSECONDS_PER_MICROSECOND;
}

function tasksOf(pid: number): readonly string[] {
  const folder = `/proc/${String(pid)}/task`;
  return readdirSync(folder).map((task) => `${folder}/${task}`);
}

function numbersIn(file: string): readonly number[] {
  return readFileSync(file, 'latin1').split(' ').filter(Boolean).map(Number);
}
