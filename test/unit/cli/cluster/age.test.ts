import { expect, test } from '@jest/globals';

import { formatAge } from '../../../../cli/cluster/age.ts';

test.each([
  { seconds: 0, age: '0s' },
  { seconds: 119, age: '119s' },
  { seconds: 120, age: '2m' },
  { seconds: 7199, age: '119m' },
  { seconds: 7200, age: '2h' },
  { seconds: 172_800, age: '2d' },
  { seconds: -5, age: '0s' },
  { seconds: NaN, age: '-' },
])('a span of $seconds seconds is $age', ({ seconds, age }) => {
  expect(formatAge(seconds * 1000)).toBe(age);
});
