import { describe, expect, test } from '@jest/globals';

import { checkRegex } from '../../../../../controller/compile/regex/check-regex.ts';

const NESTED = 'must not repeat a group that contains a repetition or alternatives, such as (a+)+';
const COMPETING =
  'has too many parts that can match the same text, such as .*a.*b.*; use [^/]* in place of .*';
const TOO_LONG =
  'has too much to match after parts that can match the same text, such as .*.*a{700}';
const UNSUPPORTED = 'must not use look-around, back references or inline modifiers';

describe('a regular expression', () => {
  test.each([
    '/files/.*',
    '^/files/.*$',
    '/v[0-9]+/[^/]+/items/.*',
    '/[a-z]+-[a-z]+-[a-z]+',
    '/(?:foo|bar)/(?:baz|qux)/.*',
    '.*\\.(?:css|js|png)',
    '/.*/edit/.*',
    '(?:ab)+',
    '(?:/[a-z][0-9]){3}',
    '/items?/details?/?',
    '(?<id>\\d+)(?:/|$)',
    '[\\]/a]+\\[\\)',
    '/.*/[0-9a-f]{64}',
    '/[^/]+/[0-9a-f]{64}/.*',
    '/[^/]+[^/]+/[0-9a-f]{64}',
    '/.*.*[0-9a-f]{30}',
    '\\p{L}+\\d+\\u{2F}\\x2f',
    'a*?b+?c??',
    '',
  ])('%s is accepted', (source) => {
    expect(checkRegex(source)).toBeUndefined();
  });

  test.each([
    ['(', 'is not a valid regular expression: Unterminated group'],
    // Attack: two invalid halves could together close a group around them.
    ['a)|(b', "is not a valid regular expression: Unmatched ')'"],
    ['a{1', 'is not a valid regular expression: Incomplete quantifier'],
  ])('%s is rejected for its syntax', (source, problem) => {
    expect(checkRegex(source)).toBe(problem);
  });

  // Attack: V8 needs time exponential in the length of the path for these.
  test.each([
    '(a+)+',
    '(a*)*b',
    '(?:a|a)*b',
    '(?:a|aa)+',
    '(?:a?){30}',
    '((?:a|b)c)*',
    '(?<n>a{2}){9}',
  ])('%s is rejected for a repetition in a repetition', (source) => {
    expect(checkRegex(source)).toBe(NESTED);
  });

  // Attack: V8 needs time of a high power of the length of the path for these.
  test.each([
    '.*a.*b.*',
    'a?a?a?aaa',
    'a{0,9}a{0,9}a{0,9}',
    '(?:a|a)(?:a|a)(?:a|a)',
    '(?:a|ab)?(?:a|ab)?(?:a|ab)?',
    '[a-z]*[0-9]*[a-z]*[0-9]*[a-z]*',
    '.*(?:/a.*)?(?:/b.*)?',
    '.*^.*$.*',
    '(?:ab)*(?:ab)*(?:ba)*',
    '(?:.*a.*b.*|c)',
    '.+?a.+?b.+?',
  ])('%s is rejected for parts that compete', (source) => {
    expect(checkRegex(source)).toBe(COMPETING);
  });

  // Attack: V8 tries everything that follows for each of the quadratically many ways to divide the path.
  test.each([
    '/.*.*a{700}',
    '/a*a*a{700}b',
    '/[^/]+[^/]+[0-9a-f]{64}',
    `/.*.*${'a'.repeat(700)}`,
    '/.*.*a{20}a{20}',
    '/.*.*(?:ab){20}',
    '/.*(?:.*a{700})',
    '/.*(?:.*a{700}|b)',
    '/(?:.*.*)a{700}',
    '/.*a?a{700}',
    Array.from({ length: 40 }, () => '/.*.*a').join('|'),
  ])('%s is rejected for how much it may try', (source) => {
    expect(checkRegex(source)).toBe(TOO_LONG);
  });

  test.each(['(?=a)', '/(?!admin).*', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '(?i:a)'])(
    '%s is refused for what it uses',
    (source) => {
      expect(checkRegex(source)).toBe(UNSUPPORTED);
    },
  );
});
