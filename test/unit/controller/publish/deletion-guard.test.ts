import { describe, expect, test } from '@jest/globals';

import { DeletionGuard } from '../../../../controller/publish/deletion-guard.ts';

const DELAY_MS = 30_000;

describe('DeletionGuard', () => {
  test.each([
    { before: 0, after: 0 },
    { before: 0, after: 100 },
    { before: 100, after: 91 },
    { before: 1000, after: 901 },
    { before: 10, after: 2 },
    { before: 9, after: 1 },
    { before: 1, after: 1 },
  ])('lets a change from $before to $after routes pass', ({ before, after }) => {
    const guard = new DeletionGuard(DELAY_MS);

    expect(guard.judge({ before, after, now: 0 })).toEqual({ kind: 'publish' });
  });

  test.each([
    { before: 1, after: 0 },
    { before: 100, after: 10 },
    { before: 500, after: 0 },
  ])('holds back a change from $before to $after routes', ({ before, after }) => {
    const guard = new DeletionGuard(DELAY_MS);

    expect(guard.judge({ before, after, now: 0 })).toEqual({
      kind: 'hold',
      waitMs: DELAY_MS,
      before,
    });
  });

  test('publishes a loss that has lasted for the delay', () => {
    const guard = new DeletionGuard(DELAY_MS);
    guard.judge({ before: 100, after: 0, now: 1_000 });

    expect(guard.judge({ before: 100, after: 0, now: 21_000 })).toMatchObject({ waitMs: 10_000 });
    expect(guard.judge({ before: 100, after: 0, now: 31_000 })).toEqual({ kind: 'publish' });
    expect(guard.judge({ before: 0, after: 0, now: 31_001 })).toEqual({ kind: 'publish' });
  });

  test('restarts the delay when the routes came back meanwhile', () => {
    const guard = new DeletionGuard(DELAY_MS);
    guard.judge({ before: 100, after: 0, now: 0 });
    guard.judge({ before: 100, after: 100, now: 10_000 });

    expect(guard.judge({ before: 100, after: 0, now: 40_000 })).toMatchObject({
      waitMs: DELAY_MS,
    });
  });

  test('waits until the number of routes has settled', () => {
    const guard = new DeletionGuard(DELAY_MS);

    expect(guard.judge({ before: 500, after: 400, now: 0 })).toEqual({
      kind: 'gather',
      waitMs: 1000,
    });
    expect(guard.judge({ before: 500, after: 200, now: 900 })).toMatchObject({ waitMs: 1000 });
    expect(guard.judge({ before: 500, after: 200, now: 1800 })).toMatchObject({ waitMs: 100 });
    expect(guard.judge({ before: 500, after: 200, now: 1900 })).toEqual({ kind: 'publish' });
  });

  test('counts the delay from the first deletion', () => {
    const guard = new DeletionGuard(DELAY_MS);
    guard.judge({ before: 500, after: 400, now: 0 });

    expect(guard.judge({ before: 500, after: 0, now: 600 })).toEqual({
      kind: 'hold',
      waitMs: DELAY_MS - 600,
      before: 500,
    });
  });

  test('adds up routes that are deleted a few at a time', () => {
    const guard = new DeletionGuard(DELAY_MS);

    expect(guard.judge({ before: 500, after: 470, now: 0 })).toEqual({ kind: 'publish' });
    expect(guard.judge({ before: 470, after: 440, now: 500 })).toMatchObject({ kind: 'gather' });
    expect(guard.judge({ before: 470, after: 0, now: 9000 })).toMatchObject({
      kind: 'hold',
      before: 500,
    });
  });

  test('compares the number left with the highest number during the delay', () => {
    const guard = new DeletionGuard(DELAY_MS);
    let now = 0;
    for (let before = 500; before > 60; before -= 20) {
      const judgement = guard.judge({ before, after: before - 20, now });
      expect(judgement.kind).not.toBe('hold');
      now += 1100;
      guard.judge({ before, after: before - 20, now });
    }

    expect(guard.judge({ before: 60, after: 40, now })).toEqual({
      kind: 'hold',
      waitMs: DELAY_MS,
      before: 500,
    });
    expect(guard.judge({ before: 60, after: 0, now: now + DELAY_MS })).toEqual({ kind: 'publish' });
    expect(guard.judge({ before: 0, after: 0, now: now + DELAY_MS + 1 }).kind).toBe('publish');
  });

  test('lets slow deletions pass', () => {
    const guard = new DeletionGuard(DELAY_MS);
    const steps = [480, 460, 440, 420].map((after, index) =>
      guard.judge({ before: after + 20, after, now: index * 3000 }),
    );

    expect(steps.map(({ kind }) => kind)).toEqual(['publish', 'publish', 'publish', 'publish']);
  });

  test('restarts the delay while routes come back', () => {
    const guard = new DeletionGuard(DELAY_MS);
    guard.judge({ before: 500, after: 0, now: 0 });

    guard.judge({ before: 500, after: 300, now: DELAY_MS - 100 });
    expect(guard.judge({ before: 500, after: 310, now: DELAY_MS + 100 })).toEqual({
      kind: 'gather',
      waitMs: 1000,
    });
  });

  test('is not delayed for ever by routes that are added again and again', () => {
    const guard = new DeletionGuard(DELAY_MS);
    let now = 0;
    let after = 0;
    while (guard.judge({ before: 500, after, now }).kind !== 'publish') {
      now += DELAY_MS - 1;
      after += 1;
    }

    expect(now).toBeLessThanOrEqual(3 * DELAY_MS);
  });

  test('waits until routes that come back have settled', () => {
    const guard = new DeletionGuard(DELAY_MS);
    guard.judge({ before: 500, after: 0, now: 0 });

    expect(guard.judge({ before: 500, after: 60, now: 2000 })).toMatchObject({ kind: 'gather' });
    expect(guard.judge({ before: 500, after: 300, now: 2900 })).toMatchObject({ waitMs: 1000 });
    expect(guard.judge({ before: 500, after: 500, now: 3800 })).toEqual({ kind: 'publish' });
  });

  test('waits for settling no longer than the delay', () => {
    const guard = new DeletionGuard(DELAY_MS);
    guard.judge({ before: 500, after: 400, now: 0 });

    expect(guard.judge({ before: 500, after: 300, now: DELAY_MS - 1 })).toMatchObject({
      waitMs: 1,
    });
    expect(guard.judge({ before: 500, after: 299, now: DELAY_MS })).toEqual({ kind: 'publish' });
    expect(new DeletionGuard(0).judge({ before: 500, after: 0, now: 0 }).kind).toBe('publish');
  });
});
