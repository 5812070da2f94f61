import { describe, expect, test } from '@jest/globals';

import { fiftyAtOnce, MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';

const RATE = { limit: 3, windowSeconds: 60 };

describe.each(STORE_IMPLEMENTATIONS)('rate limit store in $name', ({ create }) => {
  test('allows as many uses as the limit, and then returns the wait', async () => {
    await using under = await create();
    const { rateLimits } = under.stores;
    const waits = [
      await rateLimits.countUse('key', RATE),
      await rateLimits.countUse('key', RATE),
      await rateLimits.countUse('key', RATE),
    ];
    expect(waits).toEqual([0, 0, 0]);
    const wait = await rateLimits.countUse('key', RATE);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(RATE.windowSeconds);
  });

  test('allows a use again after the wait that it returned', async () => {
    await using under = await create();
    const { rateLimits } = under.stores;
    for (let use = 0; use < RATE.limit; use += 1) await rateLimits.countUse('key', RATE);
    await under.advance(await rateLimits.countUse('key', RATE));
    expect(await rateLimits.countUse('key', RATE)).toBe(0);
  });

  test('counts each key separately', async () => {
    await using under = await create();
    const { rateLimits } = under.stores;
    for (let use = 0; use <= RATE.limit; use += 1) await rateLimits.countUse('key', RATE);
    expect(await rateLimits.countUse('other', RATE)).toBe(0);
  });

  test('allows no more uses than the limit to fifty concurrent calls', async () => {
    await using under = await create();
    const { rateLimits } = under.stores;
    const waits = await fiftyAtOnce(() => rateLimits.countUse('key', RATE));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(RATE.limit);
  });
});

describe.each(STORE_IMPLEMENTATIONS)('replay store in $name', ({ create }) => {
  test('accepts an id once', async () => {
    await using under = await create();
    const { replays } = under.stores;
    expect(await replays.claim('client', 'jti-1', 60)).toBe(true);
    expect(await replays.claim('client', 'jti-1', 60)).toBe(false);
    expect(await replays.claim('client', 'jti-2', 60)).toBe(true);
  });

  test('accepts the same id of two clients', async () => {
    await using under = await create();
    const { replays } = under.stores;
    expect(await replays.claim('client', 'jti-1', 60)).toBe(true);
    expect(await replays.claim('other', 'jti-1', 60)).toBe(true);
  });

  test('accepts one of fifty concurrent claims', async () => {
    await using under = await create();
    const claims = await fiftyAtOnce(() => under.stores.replays.claim('client', 'jti-1', 60));
    expect(claims.filter(Boolean)).toHaveLength(1);
  });

  test('remembers an id for its lifetime, from the first use on', async () => {
    await using under = await create();
    const { replays } = under.stores;
    await replays.claim('client', 'jti-1', 60);
    await under.advance(60 - MOMENT_SECONDS);
    expect(await replays.claim('client', 'jti-1', 60)).toBe(false);
    await under.advance(MOMENT_SECONDS);
    expect(await replays.claim('client', 'jti-1', 60)).toBe(true);
  });
});
