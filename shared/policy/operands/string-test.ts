import type { Outcome, StringMatcher } from '../language/criterion-definition.ts';

/** A `StringMatcher` ready to test one value, or several. */
export interface StringTest {
  /** Every operator holds for the value. */
  matches(value: string): boolean;
  /**
   * One value satisfies every operator but `not_in`, and no value is in `not_in`. Without values, nothing
   * can be decided by `not_in` alone.
   */
  matchesAny(values: readonly string[]): Outcome;
}

/** Changes operands and values before they are compared. */
export type Fold = (text: string) => string;

type Test = (value: string) => boolean;

/** The operators of a `StringMatcher`. */
const OPERATORS: readonly string[] = [
  'is',
  'starts_with',
  'ends_with',
  'contains',
  'in',
  'not_in',
] satisfies (keyof StringMatcher)[];

/**
 * Builds the test of a criterion's operators. Comparison is by code unit: no locale, no normalisation.
 *
 * Throws if there is no operator, or an unknown one: ignoring it would make `allow` hold too often, or
 * `deny` too rarely.
 */
export function buildStringTest(matcher: StringMatcher, fold: Fold = asItIs): StringTest {
  const names = Object.keys(matcher);
  const unknown = names.find((name) => !OPERATORS.includes(name));
  if (unknown !== undefined) throw new Error(`a policy has an unknown operator "${unknown}"`);
  if (names.length === 0) throw new Error('a policy has a matcher without an operator');

  const tests = positiveTests(matcher, fold);
  const isWanted = everyOf(tests);
  const isExcluded = isOneOf(matcher.not_in ?? [], fold);
  const holds: Test = (value) => isWanted(value) && !isExcluded(value);
  const anyHolds = (values: readonly string[]): Outcome =>
    tests.length === 0 && values.length === 0
      ? undefined
      : (tests.length === 0 || values.some(isWanted)) && !values.some(isExcluded);
  if (fold === asItIs) return { matches: holds, matchesAny: anyHolds };
  return {
    matches: (value) => holds(fold(value)),
    matchesAny: (values) => anyHolds(values.map(fold)),
  };
}

function asItIs(text: string): string {
  return text;
}

function positiveTests(matcher: StringMatcher, fold: Fold): readonly Test[] {
  const { is, starts_with: prefix, ends_with: suffix, contains: part, in: listed } = matcher;
  return [
    is !== undefined && isOneOf([is], fold),
    prefix !== undefined && startsWith(fold(prefix)),
    suffix !== undefined && endsWith(fold(suffix)),
    part !== undefined && contains(fold(part)),
    listed !== undefined && isOneOf(listed, fold),
  ].filter((test) => test !== false);
}

function everyOf(tests: readonly Test[]): Test {
  const [first, ...rest] = tests;
  if (first === undefined) return () => true;
  if (rest.length === 0) return first;
  return (value) => tests.every((test) => test(value));
}

function isOneOf(operands: readonly string[], fold: Fold): Test {
  const listed = new Set(operands.map(fold));
  if (listed.size === 0) return () => false;
  if (listed.size > 1) return (value) => listed.has(value);
  const [only] = listed;
  return (value) => value === only;
}

function startsWith(prefix: string): Test {
  return (value) => value.startsWith(prefix);
}

function endsWith(suffix: string): Test {
  return (value) => value.endsWith(suffix);
}

function contains(part: string): Test {
  return (value) => value.includes(part);
}
