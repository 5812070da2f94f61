import { describe, expect, test } from '@jest/globals';

import { BoundedMap } from '../../../../proxy/cache/bounded-map.ts';

describe('BoundedMap', () => {
  test('drops the entry that was set longest ago when there are too many', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);

    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([3, undefined, 4]);
  });

  test('deletes by key and by value', () => {
    const map = new BoundedMap<string, number>(9);
    for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3, d: 4 })) map.set(key, value);
    map.delete('a');
    map.deleteWhere((value) => value % 2 === 0);

    expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([
      undefined,
      undefined,
      3,
      undefined,
    ]);
  });
});
