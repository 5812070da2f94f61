import { setTimeout as wait } from 'node:timers/promises';

import type { ManualClock } from './manual-clock.ts';

const STEP_MS = 50;
const MOST_STEPS = 20_000;

/**
 * Moves a clock in small steps until something holds. Between the steps, network events that need no
 * clock are processed.
 */
export async function letTimePass(
  clock: ManualClock,
  what: string,
  holds: () => boolean | Promise<boolean>,
  stepMs = STEP_MS,
): Promise<void> {
  for (let steps = 0; !(await holds()); steps += 1) {
    if (steps === MOST_STEPS) throw new Error(`still not after all that time: ${what}`);
    await clock.advance(stepMs);
    await wait(1);
  }
}
