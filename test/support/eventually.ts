import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 20;
/** A machine so busy that it looked less often gets more time. */
const LEAST_LOOKS = 500;

/**
 * How long a test waits for what never comes: long enough for a machine that is busy with other
 * work, and shorter than the timeout of a test, so that the test can say what did not come.
 */
export const HANG_GUARD_MS = 60_000;

/** Waits until something holds. Resolves with the milliseconds it took; rejects after the deadline. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  deadlineMs = HANG_GUARD_MS,
): Promise<number> {
  const start = performance.now();
  for (let looks = 1; ; looks += 1) {
    const isReached = await holds();
    const passed = performance.now() - start;
    if (isReached) return Math.round(passed);
    if (passed > deadlineMs && looks >= LEAST_LOOKS) {
      throw new Error(`after ${String(Math.round(passed))} ms still not: ${what}`);
    }
    await wait(POLL_MS);
  }
}
