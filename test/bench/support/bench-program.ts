import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { onCore } from './pinned.ts';
import type { Ready } from './subject-process.ts';

/** How a program of a benchmark runs. */
export interface ProgramOptions {
  readonly core: number;
  readonly args?: readonly string[];
  /** File descriptor that becomes its stdout; absent: the stdout of this process. */
  readonly stdout?: number;
  /** Flags of Node. */
  readonly nodeFlags?: readonly string[];
}

/** A TypeScript program of a benchmark, as a process that ends with this one. Disposing of it ends it. */
export interface BenchProgram extends Ready, Disposable {
  readonly pid: number;
  readonly process: ChildProcess;
}

/** Starts a program, and waits until it reports that it is ready (`reportReady`). */
export async function startProgram(file: string, options: ProgramOptions): Promise<BenchProgram> {
  const { core, args = [], stdout = 'inherit', nodeFlags = [] } = options;
  const flags = ['--disable-warning=DEP0060', ...nodeFlags];
  const [command = '', ...rest] = onCore(core, [process.execPath, ...flags, file, ...args]);
  const child = spawn(command, rest, { stdio: ['ignore', stdout, 'inherit', 'ipc'] });
  // The child's first message has this form.
  const [ready] = (await Promise.race([once(child, 'message'), failure(child, file)])) as [Ready];
  const { pid = NaN } = child;
  return { ...ready, pid, process: child, [Symbol.dispose]: () => child.kill() };
}

async function failure(child: ChildProcess, file: string): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`${file} ended before it was ready, with status ${String(code)}`);
}
