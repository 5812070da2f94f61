import { setTimeout as wait } from 'node:timers/promises';

import { send } from '../../support/http-client.ts';
import { cpuOfTree } from '../support/process-cpu.ts';

const POLL_MS = 3;
const DEADLINE_MS = 60_000;
const OK = 200;
/** Time until the work that follows an answer is done. */
const SETTLING_MS = 100;

/** The cost of a start. */
export interface Cost {
  /** CPU of all threads, user and system. */
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Waits until a process that was started now is ready, and returns what that cost. */
export async function costUntil(pid: number, ready: () => Promise<unknown>): Promise<Cost> {
  const startedAt = performance.now();
  await ready();
  return { cpuMs: cpuOfTree(pid) / 1000, wallMs: performance.now() - startedAt };
}

/** Returns what some work costs a process that runs already. */
export async function costOf(pid: number, work: () => Promise<unknown>): Promise<Cost> {
  await wait(SETTLING_MS);
  const before = cpuOfTree(pid);
  const startedAt = performance.now();
  await work();
  const wallMs = performance.now() - startedAt;
  await wait(SETTLING_MS);
  return { cpuMs: (cpuOfTree(pid) - before) / 1000, wallMs };
}

/** Waits until `/readyz` of an admin port reports that a process is ready. */
export async function untilReady(admin: unknown): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while ((await send(`http://${String(admin)}/readyz`)).status !== OK) {
    if (performance.now() > deadline) throw new Error('a measured process does not become ready');
    await wait(POLL_MS);
  }
}
