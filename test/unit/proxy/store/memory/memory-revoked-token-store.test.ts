import { describe, expect, test } from '@jest/globals';

import { MemoryRevokedTokenStore } from '../../../../../proxy/store/memory/memory-revoked-token-store.ts';

const MAX_ENTRIES = 2000;

/** Revokes tokens of a grant until the store refuses one. */
async function fill(store: MemoryRevokedTokenStore, grantId: string): Promise<void> {
  for (let count = 0; ; count += 1) {
    try {
      await store.revoke(`${grantId}-${String(count)}`, 60, grantId);
    } catch (error) {
      expect(error).toMatchObject({ reason: 'store-full', status: 503 });
      return;
    }
  }
}

describe('the revoked tokens in memory', () => {
  // Attack: a client refreshes and revokes in a loop, and nobody else can revoke a stolen token.
  test('a grant that fills the store is refused, and other grants are not', async () => {
    const store = new MemoryRevokedTokenStore(() => 0, MAX_ENTRIES);
    await fill(store, 'attacker');
    await fill(store, 'second attacker');
    await store.revoke('stolen', 60, 'grant');
    expect(await store.isRevoked('stolen')).toBe(true);
  });

  test('a revoked token stays revoked until it expires, however full the store is', async () => {
    let now = 0;
    const store = new MemoryRevokedTokenStore(() => now, MAX_ENTRIES);
    await store.revoke('stolen', 60, 'grant');
    for (let grant = 0; grant < 20; grant += 1) await fill(store, String(grant));
    expect(await store.isRevoked('stolen')).toBe(true);
    now += 60_000;
    expect(await store.isRevoked('stolen')).toBe(false);
  });
});
