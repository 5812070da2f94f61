import { describe, expect, it } from '@jest/globals';

import { LogLimit } from '../../../../controller/push/log-limit.ts';

describe('LogLimit', () => {
  it('lets each key pass once per interval', () => {
    let now = 0;
    const limit = new LogLimit(100, () => now);
    expect([limit.take('a'), limit.take('a'), limit.take('b')]).toEqual([true, false, true]);
    now = 99;
    expect(limit.take('a')).toBe(false);
    now = 100;
    expect([limit.take('a'), limit.take('a')]).toEqual([true, false]);
  });

  it('lets a bounded number of keys pass, whatever strangers choose', () => {
    let now = 0;
    const limit = new LogLimit(100, () => now);
    const many = Array.from({ length: 1000 }, (_, index) => String(index));
    expect(many.filter((key) => limit.take(key))).toHaveLength(256);
    now = 100;
    expect(limit.take('another')).toBe(true);
  });
});
