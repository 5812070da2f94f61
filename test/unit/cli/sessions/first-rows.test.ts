import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { FirstRows } from '../../../../cli/sessions/first-rows.ts';

const compare = (a: number, b: number): number => a - b;

test('keeps what sorting all of them, each once, would put first', () => {
  const given = fc.record({
    rows: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 200 }),
    limit: fc.integer({ min: 1, max: 20 }),
    after: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(given, ({ rows, limit, after }) => {
      const first = new FirstRows({ limit, compare, after });
      for (const row of rows) first.add(row);
      const all = [...new Set(rows)].sort(compare).filter((row) => row > (after ?? -1));
      expect(first.rows).toEqual(all.slice(0, limit));
      expect(first.hasMore).toBe(all.length > limit);
    }),
  );
});
