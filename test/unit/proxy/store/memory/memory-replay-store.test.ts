import { describe, expect, test } from '@jest/globals';

import { MemoryReplayStore } from '../../../../../proxy/store/memory/memory-replay-store.ts';
import { StoreFullError } from '../../../../../proxy/store/memory/store-full-error.ts';

const MAX_IDS = 2000;

/** Uses new ids of an owner until the store refuses one. */
async function useUntilRefused(store: MemoryReplayStore, owner: string): Promise<number> {
  for (let count = 0; count <= MAX_IDS; count += 1) {
    try {
      await store.claim(owner, `jti-${String(count)}`, 60);
    } catch (error) {
      expect(error).toBeInstanceOf(StoreFullError);
      return count;
    }
  }
  throw new Error('the store is never full');
}

describe('the used ids in memory', () => {
  // Attack: 34 clients at their limits filled the store, and nobody could authenticate by an assertion.
  test('a client that fills the store is refused, and other clients are not', async () => {
    const store = new MemoryReplayStore(() => 0, MAX_IDS);
    expect(await useUntilRefused(store, 'attacker')).toBe(MAX_IDS / 2);
    expect(await useUntilRefused(store, 'second attacker')).toBe(100);
    expect(await store.claim('client', 'jti-1', 60)).toBe(true);
  });

  test('no id is forgotten while it could be used again, however full the store is', async () => {
    const store = new MemoryReplayStore(() => 0, MAX_IDS);
    await store.claim('client', 'jti-1', 60);
    for (let owner = 0; owner < 20; owner += 1) await useUntilRefused(store, String(owner));
    expect(await store.claim('client', 'jti-1', 60)).toBe(false);
    expect(await store.claim('0', 'jti-1', 60)).toBe(false);
  });

  test('a full store accepts ids again once others have expired', async () => {
    let now = 0;
    const store = new MemoryReplayStore(() => now, MAX_IDS);
    await useUntilRefused(store, 'client');
    now += 60_000;
    expect(await store.claim('client', 'another', 60)).toBe(true);
  });
});
