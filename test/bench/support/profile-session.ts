import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Flags of Node for a program that is profiled. */
export const PROFILER_FLAGS = ['--import', join(import.meta.dirname, 'profiler.ts')] as const;

/** A function as one caller called it. */
export interface ProfileNode {
  readonly id: number;
  readonly name: string;
  /** File of the function; empty for what is native. */
  readonly url: string;
  /** Microseconds that it ran, or bytes that it allocated, without the functions that it called. */
  readonly self: number;
  /** Ids of the functions that it called. */
  readonly children: readonly number[];
}

/** What can be profiled. */
export interface Profiles {
  readonly cpu: readonly ProfileNode[];
  readonly heap: readonly ProfileNode[];
}

/** Profiles a program that was started with `PROFILER_FLAGS` during some work. */
export async function profileDuring(
  program: ChildProcess,
  kind: keyof Profiles,
  work: () => Promise<unknown>,
): Promise<readonly ProfileNode[]> {
  await ask(program, kind);
  await work();
  return ask(program, kind);
}

async function ask(program: ChildProcess, kind: keyof Profiles): Promise<readonly ProfileNode[]> {
  const answer = once(program, 'message');
  program.send(kind);
  // The profiler answers with this only.
  return ((await answer) as [readonly ProfileNode[]])[0];
}
