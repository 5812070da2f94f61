import { describe, expect, test } from '@jest/globals';

import { ExpiringMap } from '../../../../proxy/cache/expiring-map.ts';

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
});
