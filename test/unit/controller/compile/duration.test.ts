import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { durationMs } from '../../../../controller/compile/duration.ts';

test.each([
  ['0s', 0],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['500ms', 500],
  ['1h2m3s4ms', 3_723_004],
  ['720h', 2_592_000_000],
])('%s is %i milliseconds', (text, milliseconds) => {
  expect(durationMs(text)).toBe(milliseconds);
});

test('units add up', () => {
  const count = fc.nat({ max: 99_999 });
  fc.assert(
    fc.property(count, count, count, (hours, minutes, milliseconds) => {
      const text = `${String(hours)}h${String(minutes)}m${String(milliseconds)}ms`;

      expect(durationMs(text)).toBe(hours * 3_600_000 + minutes * 60_000 + milliseconds);
    }),
  );
});
