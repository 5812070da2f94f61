import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 20;
/** Number of looks before the deadline counts, so that a busy machine gets more time. */
const LEAST_LOOKS = 500;

/**
 * How long a test waits for something that never happens: long enough for a machine that is busy with
 * other work, and shorter than the timeout of a test, so that the test can name what did not happen.
 */
export const HANG_GUARD_MS = 60_000;

/**
 * Waits until something holds, and resolves with the milliseconds it took.
 *
 * Without a deadline it waits as long as the hang guard. A deadline is for what must hold within a
 * certain time, such as before a lease ends.
 */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  deadlineMs?: number,
): Promise<number> {
  const least = deadlineMs === undefined ? LEAST_LOOKS : 0;
  const start = performance.now();
  for (let looks = 1; ; looks += 1) {
    const isReached = await holds();
    const passed = performance.now() - start;
    if (isReached) return Math.round(passed);
    if (passed > (deadlineMs ?? HANG_GUARD_MS) && looks >= least) {
      throw new Error(`after ${String(Math.round(passed))} ms still not: ${what}`);
    }
    await wait(POLL_MS);
  }
}
