import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { makePathExpression, regexProblem } from '../../../../shared/paths/path-expression.ts';
import type { Automaton } from '../../../../shared/paths/regex/automaton.ts';
import type { Reading } from '../../../../shared/paths/regex/character-set.ts';
import { ARBITRARY_EXPRESSION } from '../../../support/arbitrary-expressions.ts';

const UNSUPPORTED = 'must not use look-around, back references or inline modifiers';
const TOO_LARGE =
  'needs too many states: repeat fewer parts a number of times, such as the 20 in .*a.{20}, and write [^/]* in place of .*';

const READINGS: readonly Reading[] = ['exact', 'loose'];
const LONGEST_PATH = 8_000;

/** Expressions for which V8 takes time that grows exponentially, or with a high power of the length. */
const NASTY = [
  ...['(a+)+', '(a*)*b', '(?:a|a)*b', '(?:a|aa)+', '(?:a?){30}', '((?:a|b)c)*', '(?<n>a{2}){9}'],
  ...['.*a.*b.*', 'a?a?a?aaa', '(?:a|ab)?(?:a|ab)?(?:a|ab)?', '(?:.*a.*b.*|c)', '.+?a.+?b.+?'],
  ...['[a-z]*[0-9]*[a-z]*[0-9]*[a-z]*', '.*(?:/a.*)?(?:/b.*)?', '/.*.*a{70}', '/a*a*a{70}b'],
  '/[a-z]+[A-Z]+[a-z]+[A-Z]+[a-z]+[A-Z]+!',
  '/(?:[a-z]+[A-Z]?)+!',
  '/([a-z][A-Z]?[a-z]*)*[0-9]',
  '/.*'.repeat(100),
  '(.*\\b){20}x',
];

function automatonOf(source: string, reading: Reading): Automaton {
  const expression = makePathExpression(source, reading);
  if (expression.kind === 'invalid') throw new Error(`${source} ${expression.problem}`);
  return expression.automaton;
}

/** Matches a text, and returns how many of its bytes were read. */
function readsOf(automaton: Automaton, text: string): number {
  let reads = 0;
  const counted = new Proxy(Buffer.from(text), {
    get(bytes, property): unknown {
      if (property !== 'length') reads += 1;
      return Reflect.get(bytes, property, bytes);
    },
  });
  automaton.matches(counted);
  return reads;
}

function matches(automaton: Automaton, text: string): boolean {
  return automaton.matches(Buffer.from(text));
}

describe('a regular expression', () => {
  test.each([
    '/files/.*',
    '^/files/.*$',
    '/v[0-9]+/[^/]+/items/.*',
    '/[a-z]+-[a-z]+-[a-z]+',
    '/(?:foo|bar)/(?:baz|qux)/.*',
    '.*\\.(?:css|js|png)',
    '/.*/edit/.*',
    '(?:/[a-z][0-9]){3}',
    '/items?/details?/?',
    '(?<id>\\d+)(?:/|$)',
    '[\\]/a]+\\[\\)',
    '/.*/[0-9a-f]{64}',
    '/[^/]+[^/]+/[0-9a-f]{64}',
    '/.*.*[0-9a-f]{30}',
    '/.*a.{9}',
    '\\p{L}+\\d+\\u{2F}\\x2f',
    `/.*(?:${Array.from({ length: 150 }, (_, index) => `word${String(index)}`).join('|')})`,
    '',
    ...NASTY,
  ])('%s is accepted', (source) => {
    expect(regexProblem(source)).toBeUndefined();
  });

  test.each([
    ['(', 'is not a valid regular expression: Unterminated group'],
    // Attack: two invalid halves could together close a group around them.
    ['a)|(b', "is not a valid regular expression: Unmatched ')'"],
    ['a{1', 'is not a valid regular expression: Incomplete quantifier'],
  ])('%s is refused for its syntax', (source, problem) => {
    expect(regexProblem(source)).toBe(problem);
  });

  test.each(['(?=a)', '/(?!admin).*', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '(?i:a)'])(
    '%s is refused for what it uses',
    (source) => {
      expect(regexProblem(source)).toBe(UNSUPPORTED);
    },
  );

  // Attack: a few characters would take all memory or time of every process that prepares them.
  test.each([
    '(a{1000}){1000}',
    '(?:(?:(?:a{99}){99}){99}){99}',
    '(?:){1000000000}',
    '(?:(?:){30000}){30000}',
    'a{4000}',
    '/.*.*a{700}',
    '/a*a*a{700}b',
    '/.*a.{20}',
    '/(?:a|b)*a(?:a|b){64}',
    '(.{1,30}){1,30}',
    'a?'.repeat(500),
    // Many steps, and a small table.
    '(?:.?){300}',
    // Few steps, and a large table.
    '(?:abcdefghijklmnopqrst){90}',
  ])('%s is refused for its size', (source) => {
    expect(regexProblem(source)).toBe(TOO_LARGE);
  });
});

describe('matching by a regular expression', () => {
  test.each<[Reading, string]>([
    ['exact', 'u'],
    ['loose', 'iu'],
  ])('agrees with the language in the %s reading', (reading, flags) => {
    const text = fc.string({
      unit: fc.constantFrom(...['a', 'b', 'k', 'K', 's', 'S', '/', '_', '-', '0', ' ', '.', '\n']),
      maxLength: 9,
    });
    fc.assert(
      fc.property(ARBITRARY_EXPRESSION, fc.array(text, { minLength: 8 }), (source, texts) => {
        const made = makePathExpression(source, reading);
        fc.pre(made.kind === 'made');
        const expected = new RegExp(`^(?:${source})$`, flags);
        expect(texts.filter((each) => matches(made.automaton, each))).toEqual(
          texts.filter((each) => expected.test(each)),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('never matches text that is not ASCII', () => {
    expect(matches(automatonOf('.*', 'exact'), '/caf\u00e9')).toBe(false);
  });

  // Attack: `/aBaBaB...` has as many ways to be divided as there are subsets of its characters.
  const ADVERSARIAL = ['a', 'ab', 'aB', 'aaab', 'a/', '/', 'a-', '0a', '!', 'A'].map((part) =>
    `/${part.repeat(LONGEST_PATH)}`.slice(0, LONGEST_PATH),
  );

  test.each(NASTY)('reads each character of the longest path at most once: %s', (source) => {
    for (const reading of READINGS) {
      const automaton = automatonOf(source, reading);
      for (const path of ADVERSARIAL) {
        expect(readsOf(automaton, path)).toBeLessThanOrEqual(LONGEST_PATH);
        expect(readsOf(automaton, `${path.slice(1)}!`)).toBeLessThanOrEqual(LONGEST_PATH);
      }
    }
  });

  test('reads each character at most once, whatever was accepted', () => {
    const path = fc
      .string({
        unit: fc.constantFrom(...['a', 'b', 'K', '/', '_', '-', '0', '.']),
        minLength: 1,
        maxLength: 5,
      })
      .map((part) => part.repeat(LONGEST_PATH).slice(0, LONGEST_PATH));
    fc.assert(
      fc.property(ARBITRARY_EXPRESSION, path, (source, text) => {
        const readings = READINGS.map((reading) => makePathExpression(source, reading));
        const reads = readings.map((each) =>
          each.kind === 'made' ? readsOf(each.automaton, text) : 0,
        );
        expect(Math.max(...reads)).toBeLessThanOrEqual(LONGEST_PATH);
      }),
      { numRuns: 50 },
    );
  });
});
