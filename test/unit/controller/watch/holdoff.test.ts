import { beforeEach, describe, expect, it } from '@jest/globals';

import { Holdoff } from '../../../../controller/watch/holdoff.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('a Holdoff', () => {
  let clock: ManualClock;
  let calls: number;

  beforeEach(() => {
    clock = new ManualClock();
    calls = 0;
  });

  function createHoldoff(untilDone: Promise<void> = Promise.resolve()): Holdoff {
    return new Holdoff(clock, async () => {
      calls += 1;
      await untilDone;
    });
  }

  it('makes one call for many requests', async () => {
    await using holdoff = createHoldoff();
    for (let count = 0; count < 100; count += 1) holdoff.request();
    await clock.advance(9);
    expect(calls).toBe(0);
    await clock.advance(1000);
    expect(calls).toBe(1);
  });

  it('makes a call every tenth of a second while requests never stop', async () => {
    await using holdoff = createHoldoff();
    for (let count = 0; count < 300; count += 1) {
      holdoff.request();
      await clock.advance(1);
    }
    expect(calls).toBeGreaterThanOrEqual(2);
    expect(calls).toBeLessThanOrEqual(3);
  });

  it('never makes two calls at a time, and another for the requests meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    await using holdoff = createHoldoff(promise);
    holdoff.request();
    await clock.advance(10);
    expect(calls).toBe(1);
    holdoff.request();
    await clock.advance(1000);
    expect(calls).toBe(1);
    resolve(undefined);
    await clock.advance(10);
    expect(calls).toBe(2);
  });

  it('makes no call once it is disposed of', async () => {
    const holdoff = createHoldoff();
    holdoff.request();
    await holdoff[Symbol.asyncDispose]();
    holdoff.request();
    await clock.advance(1000);
    expect(calls).toBe(0);
  });
});
