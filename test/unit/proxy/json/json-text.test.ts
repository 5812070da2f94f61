import { describe, expect, test } from '@jest/globals';

import { countKeys } from '../../../../proxy/json/json-text.ts';

describe('countKeys', () => {
  test.each([
    ['{}', 0, false],
    ['{"a":{"b":[{"c":":"}]}}', 3, false],
    ['{"a":1,"a":2}', 2, false],
    ['{"a":"\\n","b":"\\":","c":"\\\\"}', 3, false],
    ['{"a":"\\n","\\u0062":1,"c":1}', 3, true],
    ['["\\n",{"a":1}]', 1, false],
    ['[{"\\n":1}]', 1, true],
    ['"a:b\\""', 0, false],
  ])('finds in %s %i members, with escapes in a key: %s', (text, members, hasEscapes) => {
    expect(countKeys(text)).toEqual({ members, hasEscapes });
  });
});
