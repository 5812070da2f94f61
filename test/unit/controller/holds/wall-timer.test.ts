import { expect, test } from '@jest/globals';

import { WallTimer } from '../../../../controller/holds/wall-timer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

/** A timer, and how often it called. */
function timer(): { clock: ManualClock; timer: WallTimer; calls: () => number; now: () => number } {
  const clock = new ManualClock();
  let calls = 0;
  const wallTimer = new WallTimer(
    clock,
    () => clock.wallTime(),
    () => (calls += 1),
  );
  return { clock, timer: wallTimer, calls: () => calls, now: () => clock.wallTime().getTime() };
}

test('a wall timer calls once, when its time is over', async () => {
  const one = timer();
  one.timer.set(one.now() + 24 * HOUR);
  await one.clock.advance(24 * HOUR - SECOND);
  expect(one.calls()).toBe(0);
  await one.clock.advance(2 * SECOND);
  await one.clock.advance(HOUR);
  expect(one.calls()).toBe(1);
});

test('a wall timer calls for its newest setting only', async () => {
  const one = timer();
  one.timer.set(one.now() + HOUR);
  one.timer.set(one.now() + 2 * HOUR);
  await one.clock.advance(HOUR + SECOND);
  expect(one.calls()).toBe(0);
  one.timer.set(undefined);
  await one.clock.advance(2 * HOUR);
  expect(one.calls()).toBe(0);
  expect(one.clock.pendingTimers).toBe(0);
});

// A hold that is over cannot end while the settings cannot be used, and is then set again and again.
test('a wall timer that is set to the past again and again calls at most once a second', async () => {
  const one = timer();
  const past = one.now() - HOUR;
  one.timer.set(past);
  for (let seconds = 0; seconds < 10; seconds += 1) {
    await one.clock.advance(SECOND);
    one.timer.set(past);
  }
  expect(one.calls()).toBe(10);
});
