import { describe, expect, test } from '@jest/globals';

import { DeletionGuard } from '../../../../controller/process/deletion-guard.ts';

const DELAY_MS = 30_000;

describe('DeletionGuard', () => {
  test.each([
    { before: 0, after: 0 },
    { before: 0, after: 100 },
    { before: 100, after: 11 },
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

  test('believes it when it has stayed so for the delay', () => {
    const guard = new DeletionGuard(DELAY_MS);
    guard.judge({ before: 100, after: 0, now: 1_000 });

    expect(guard.judge({ before: 100, after: 5, now: 21_000 })).toMatchObject({ waitMs: 10_000 });
    expect(guard.judge({ before: 100, after: 5, now: 31_000 })).toEqual({ kind: 'publish' });
  });

  test('begins anew when the routes came back meanwhile', () => {
    const guard = new DeletionGuard(DELAY_MS);
    guard.judge({ before: 100, after: 0, now: 0 });
    guard.judge({ before: 100, after: 100, now: 10_000 });

    expect(guard.judge({ before: 100, after: 0, now: 40_000 })).toMatchObject({
      waitMs: DELAY_MS,
    });
  });
});
