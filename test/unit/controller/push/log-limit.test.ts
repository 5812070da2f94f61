import { describe, expect, it } from '@jest/globals';

import { LogLimit } from '../../../../controller/push/log-limit.ts';

describe('LogLimit', () => {
  it('lets each key pass once per interval', () => {
    let now = 0;
    const limit = new LogLimit(100, () => now);
    expect([limit.admits('a'), limit.admits('a'), limit.admits('b')]).toEqual([true, false, true]);
    now = 99;
    expect(limit.admits('a')).toBe(false);
    now = 100;
    expect([limit.admits('a'), limit.admits('a')]).toEqual([true, false]);
  });

  it('lets a bounded number of keys pass, whatever strangers choose', () => {
    let now = 0;
    const limit = new LogLimit(100, () => now);
    const many = Array.from({ length: 1000 }, (_, index) => String(index));
    expect(many.filter((key) => limit.admits(key))).toHaveLength(256);
    now = 100;
    expect(limit.admits('another')).toBe(true);
  });
});
