import { performance as realPerformance } from 'node:perf_hooks';

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { Deadlines, type Deadline } from '../../../../proxy/upstream-client/deadlines.ts';

class Watched implements Deadline {
  deadline = Infinity;
  readonly #watched: Set<Deadline>;
  expiredAt: number | undefined;

  constructor(watched: Set<Deadline>) {
    this.#watched = watched;
    watched.add(this);
  }

  expire(): void {
    this.expiredAt = performance.now();
    this.#watched.delete(this);
  }
}

/** Deadlines, and a function that watches one more of so many milliseconds from now. */
function watching(): { deadlines: Deadlines; watch: (ms: number) => Watched } {
  const all = new Set<Deadline>();
  const deadlines = new Deadlines(all);
  return {
    deadlines,
    watch: (ms) => {
      const watched = new Watched(all);
      watched.deadline = performance.now() + ms;
      deadlines.note(watched.deadline);
      return watched;
    },
  };
}

describe('Deadlines', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
    // Jest replaces the global, and not what the module exports.
    jest.spyOn(realPerformance, 'now').mockImplementation(() => performance.now());
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  test('are met in any order, a little late at most', () => {
    const { watch } = watching();
    const all = [4_000, 30_000, 50, 4_001, 100].map((ms) => [watch(ms), ms] as const);
    jest.advanceTimersByTime(31_000);
    for (const [{ expiredAt = -1 }, ms] of all) {
      expect(expiredAt).toBeGreaterThanOrEqual(ms);
      expect(expiredAt).toBeLessThanOrEqual(ms + 50);
    }
  });

  test('that are moved to a later time are met then', () => {
    const { deadlines, watch } = watching();
    const watched = watch(1_000);
    watched.deadline = 5_000;
    deadlines.note(watched.deadline);
    jest.advanceTimersByTime(4_900);
    expect(watched.expiredAt).toBeUndefined();
    jest.advanceTimersByTime(200);
    expect(watched.expiredAt).toBeDefined();
  });

  test('that are taken back are not met', () => {
    const { watch } = watching();
    const watched = watch(1_000);
    watched.deadline = Infinity;
    jest.advanceTimersByTime(60_000);
    expect(watched.expiredAt).toBeUndefined();
  });

  test('have one timer for many, and none when there are none', () => {
    const { deadlines, watch } = watching();
    for (let count = 0; count < 1_000; count += 1) watch(1_000 + count);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1_500);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1_500);
    expect(jest.getTimerCount()).toBe(0);
    watch(1_000);
    deadlines.stop();
    expect(jest.getTimerCount()).toBe(0);
  });
});
