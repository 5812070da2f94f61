import { describe, expect, test } from '@jest/globals';

import { ExpiringMap } from '../../../../proxy/cache/expiring-map.ts';
import { MemoryReplayStore } from '../../../../proxy/store/memory/memory-replay-store.ts';
import { MemoryRevokedTokenStore } from '../../../../proxy/store/memory/memory-revoked-token-store.ts';

describe('expiring map', () => {
  test('never grows past its bound, and evicts the oldest entry first', () => {
    const map = new ExpiringMap<number>(() => 0, 3);
    for (let value = 0; value < 5; value += 1) map.set(`key-${String(value)}`, value, 60);
    expect(map.size).toBe(3);
    expect(map.get('key-1')).toBeNull();
    expect(map.get('key-2')).toBe(2);
  });

  test('makes an entry that is set again the youngest', () => {
    const map = new ExpiringMap<number>(() => 0, 2);
    map.set('a', 1, 60);
    map.set('b', 1, 60);
    map.set('a', 2, 60);
    map.set('c', 1, 60);
    expect(map.get('a')).toBe(2);
    expect(map.get('b')).toBeNull();
  });

  test('releases entries that expired and are never read', () => {
    let now = 0;
    const map = new ExpiringMap<number>(() => now);
    for (let index = 0; index < 1000; index += 1) map.set(`old-${String(index)}`, index, 60);
    now = 61_000;
    for (let index = 0; index < 1001; index += 1) map.set(`young-${String(index)}`, index, 60);
    expect(map.size).toBeLessThan(1010);
  });

  test('has room again once entries have expired', () => {
    let now = 0;
    const map = new ExpiringMap<number>(() => now, 2);
    map.set('a', 1, 60);
    map.set('b', 1, 60);
    expect(map.hasRoom()).toBe(false);
    now = 60_000;
    expect(map.hasRoom()).toBe(true);
  });

  // Attack: strangers who fill the map must not cause a scan of every entry with each request.
  test('is scanned for room at most once a second', () => {
    let now = 59_500;
    const map = new ExpiringMap<number>(() => now, 2);
    map.setUntil('a', 1, 60_000);
    map.setUntil('b', 1, 90_000);
    expect(map.hasRoom()).toBe(false);
    now = 60_499;
    expect(map.hasRoom()).toBe(false);
    now = 60_500;
    expect(map.hasRoom()).toBe(true);
  });
});

describe('stores that must not forget', () => {
  test('keep a revoked token revoked when others fill the store', async () => {
    const store = new MemoryRevokedTokenStore(() => 0, 1);
    await store.revoke('jti-1', 60);
    await expect(store.revoke('jti-2', 60)).rejects.toMatchObject({ reason: 'store-full' });
    expect(await store.isRevoked('jti-1')).toBe(true);
  });

  test('keep a used id used when others fill the store', async () => {
    const store = new MemoryReplayStore(() => 0, 1);
    await store.claim('client', 'jti-1', 60);
    await expect(store.claim('other', 'jti-2', 60)).rejects.toMatchObject({ status: 503 });
    expect(await store.claim('client', 'jti-1', 60)).toBe(false);
  });
});
