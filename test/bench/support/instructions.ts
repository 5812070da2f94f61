import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

import { processTree } from './process-cpu.ts';

const EVENTS = ['instructions:u', 'instructions:k', 'cycles'] as const;

/** Instructions that a processor executed. They hardly depend on what else runs on the machine. */
export interface Instructions {
  readonly user: number;
  readonly kernel: number;
  /** Cycles that these took, in both modes. They depend on what else uses the caches. */
  readonly cycles: number;
}

type PerfPipes = [null, null, Readable, Writable, Readable];

/** Returns whether `perf` exists here, and may count instructions. */
export function canCountInstructions(): boolean {
  const { status, stderr } = spawnSync('perf', ['stat', '-e', EVENTS.join(','), 'true']);
  return status === 0 && !stderr.includes('<not ');
}

/** Returns the instructions that a process and its descendants execute during some work. */
export async function countInstructions(
  pid: number,
  work: () => Promise<unknown>,
): Promise<Instructions> {
  const pids = processTree(pid).join(',');
  const options = ['-x', ';', '-e', EVENTS.join(','), '-D', '-1', '--control', 'fd:3,4'];
  const perf = spawn('perf', ['stat', ...options, '-p', pids], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  const exited = once(perf, 'exit');
  // The last three are pipes, by the options above.
  const [, , errors, commands, answers] = perf.stdio as unknown as PerfPipes;
  let report = '';
  errors.setEncoding('utf8').on('data', (text: string) => (report += text));
  const tell = async (command: string): Promise<void> => {
    commands.write(`${command}\n`);
    await once(answers, 'data');
  };
  await tell('enable');
  await work();
  await tell('disable');
  perf.kill('SIGINT');
  await exited;
  const [user, kernel, cycles] = EVENTS.map((event) => countOf(event, report));
  return { user: user ?? NaN, kernel: kernel ?? NaN, cycles: cycles ?? NaN };
}

/** A line begins with the count, and the event is its third field. */
function countOf(event: string, report: string): number {
  const line = report.split('\n').find((each) => each.split(';')[2] === event);
  return Number(line?.split(';')[0] ?? NaN);
}
