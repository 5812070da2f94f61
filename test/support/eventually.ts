import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 20;

/** Waits until something holds, and tells after how many milliseconds it did. Rejects at the deadline. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  deadlineMs = 15_000,
): Promise<number> {
  const start = performance.now();
  for (;;) {
    const isReached = await holds();
    const passed = performance.now() - start;
    if (isReached) return Math.round(passed);
    if (passed > deadlineMs) throw new Error(`after ${String(deadlineMs)} ms still not: ${what}`);
    await wait(POLL_MS);
  }
}
