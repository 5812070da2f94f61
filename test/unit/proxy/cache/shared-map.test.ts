import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { SharedMap } from '../../../../proxy/cache/shared-map.ts';

function setUp(maxSize: number) {
  const clock = { now: 0 };
  const map = new SharedMap<string>(() => clock.now, maxSize);
  const set = (key: string, owner: string, size = 1, ttlSeconds = 60): void => {
    map.set(key, key, { owner, size, ttlSeconds });
  };
  return { clock, map, set };
}

describe('a map that strangers share', () => {
  test('an owner that fills it loses its own oldest entries', () => {
    const { map, set } = setUp(10);
    set('user', 'user');
    for (let index = 0; index < 1000; index += 1) set(String(index), 'attacker');
    expect(map.get('user')).toBe('user');
    expect(map.get('990')).toBeNull();
    expect(map.get('999')).toBe('999');
    expect(map.size).toBe(10);
  });

  test('an owner with little gets room from the owner with most', () => {
    const { map, set } = setUp(10);
    for (let index = 0; index < 10; index += 1) set(`a${String(index)}`, 'attacker');
    set('one', 'user');
    set('two', 'user');
    expect([map.get('one'), map.get('two')]).toEqual(['one', 'two']);
    expect([map.get('a0'), map.get('a1'), map.get('a2')]).toEqual([null, null, 'a2']);
  });

  test('a large entry evicts as many small ones as it needs', () => {
    const { map, set } = setUp(10);
    for (let index = 0; index < 10; index += 1) set(String(index), 'owner');
    set('large', 'owner', 8);
    expect(map.size).toBe(10);
    expect(map.get('large')).toBe('large');
  });

  test('an entry is gone once it has expired or was used, and leaves room', () => {
    const { clock, map, set } = setUp(10);
    set('one', 'owner', 5);
    set('two', 'owner', 5);
    expect(map.remainingSeconds('one')).toBe(60);
    expect(map.consume('two')).toBe('two');
    expect(map.consume('two')).toBeNull();
    clock.now += 60_000;
    expect(map.get('one')).toBeNull();
    expect(map.remainingSeconds('one')).toBe(0);
    expect([map.size, map.sizeOf('owner')]).toEqual([0, 0]);
  });

  test('replacing an entry counts it once, for its new owner', () => {
    const { map, set } = setUp(10);
    set('key', 'first', 3);
    set('key', 'second', 4);
    expect([map.size, map.sizeOf('first'), map.sizeOf('second')]).toEqual([4, 0, 4]);
  });

  test('it never grows beyond its size, and shrinks when entries expire', () => {
    const step = fc.record({
      key: fc.integer({ min: 0, max: 30 }),
      owner: fc.constantFrom('a', 'b', 'c'),
      size: fc.integer({ min: 1, max: 10 }),
      seconds: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { clock, map, set } = setUp(40);
        for (const { key, owner, size, seconds } of steps) {
          clock.now += seconds * 1000;
          set(String(key), owner, size, 30);
          const sizes = ['a', 'b', 'c'].map((one) => map.sizeOf(one));
          expect(sizes.reduce((sum, one) => sum + one, 0)).toBe(map.size);
          expect(map.size).toBeLessThanOrEqual(40);
          expect(map.get(String(key))).toBe(String(key));
        }
        clock.now += 31_000;
        for (let swept = 0; swept < 3; swept += 1) map.sweep(100);
        expect(map.size).toBe(0);
      }),
    );
  });
});
