import { beforeEach, describe, expect, test } from '@jest/globals';

import { CachedValue } from '../../../../proxy/cache/cached-value.ts';

describe('CachedValue', () => {
  let time: number;
  let loads: PromiseWithResolvers<string>[];
  let value: CachedValue<string>;

  beforeEach(() => {
    time = 0;
    loads = [];
    const load = (): Promise<string> => {
      const next = Promise.withResolvers<string>();
      loads.push(next);
      return next.promise;
    };
    value = new CachedValue(load, { now: () => time, lifetime: 100, failureLifetime: 10 });
  });

  test('is loaded once for concurrent callers', async () => {
    const asked = [value.get(), value.get(), value.get()];
    loads[0]?.resolve('a');

    expect(await Promise.all(asked)).toEqual(['a', 'a', 'a']);
    expect(loads).toHaveLength(1);
  });

  test('is loaded again when it is old, counted from the end of the load', async () => {
    const first = value.get();
    time = 50;
    loads[0]?.resolve('a');
    await first;
    time = 149;
    expect(await value.get()).toBe('a');
    time = 150;
    const second = value.get();
    loads[1]?.resolve('b');

    expect(await second).toBe('b');
    expect(loads).toHaveLength(2);
  });

  test('remembers a failure for a moment only', async () => {
    const first = value.get();
    loads[0]?.reject(new Error('down'));
    await expect(first).rejects.toThrow('down');
    time = 9;
    await expect(value.get()).rejects.toThrow('down');
    time = 10;
    const second = value.get();
    loads[1]?.resolve('up');

    expect(await second).toBe('up');
  });

  test('returns the last good value when a later load fails, and tries again soon', async () => {
    const first = value.get();
    loads[0]?.resolve('a');
    await first;
    time = 100;
    const second = value.get();
    loads[1]?.reject(new Error('down'));
    expect(await second).toBe('a');
    time = 110;
    const third = value.get();
    loads[2]?.resolve('c');

    expect(await third).toBe('c');
  });
});
