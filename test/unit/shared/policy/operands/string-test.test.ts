import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { foldAsciiCase } from '../../../../../shared/policy/operands/fold-ascii-case.ts';
import { buildStringTest } from '../../../../../shared/policy/operands/string-test.ts';
import type { StringMatcher } from '../../../../../shared/policy/language/criterion-definition.ts';

/** Few letters, so that operators meet their values often. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '-', '\u00e9'), maxLength: 4 });
const texts = fc.array(text, { maxLength: 4 });
const matcher: fc.Arbitrary<StringMatcher> = fc
  .record(
    {
      is: text,
      starts_with: text,
      ends_with: text,
      contains: text,
      in: fc.array(text, { minLength: 1, maxLength: 3 }),
      not_in: fc.array(text, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: [] },
  )
  .filter((operators) => Object.keys(operators).length > 0);

describe('a string matcher', () => {
  test('agrees with a naive model on one value', () => {
    fc.assert(
      fc.property(matcher, text, (operators, value) => {
        expect(buildStringTest(operators).matches(value)).toBe(model(operators, [value]));
      }),
    );
  });

  test('agrees with a naive model on several values', () => {
    fc.assert(
      fc.property(matcher, texts, (operators, values) => {
        expect(buildStringTest(operators).matchesAny(values)).toBe(model(operators, values));
      }),
    );
  });

  test('compares folded operands with folded values', () => {
    fc.assert(
      fc.property(matcher, texts, (operators, values) => {
        const folding = buildStringTest(operators, foldAsciiCase);
        const folded = buildStringTest(foldAll(operators));
        expect(folding.matchesAny(values)).toBe(folded.matchesAny(values.map(foldAsciiCase)));
        for (const value of values) {
          expect(folding.matches(value)).toBe(folded.matches(foldAsciiCase(value)));
        }
      }),
    );
  });

  test('is not built without an operator', () => {
    expect(() => buildStringTest({})).toThrow('without an operator');
  });

  test('is not built from an unknown operator', () => {
    const operators = { is: 'a', matches: 'b' };

    expect(() => buildStringTest(operators)).toThrow('unknown operator "matches"');
  });
});

/** As one would explain it, by nothing but comparison of slices. */
function model(operators: StringMatcher, values: readonly string[]): boolean | undefined {
  const { not_in: excluded = [], ...wanted } = operators;
  if (values.length === 0 && Object.keys(wanted).length === 0) return undefined;
  const found = values.filter((value) => satisfiesAll(wanted, value));
  const isFound = Object.keys(wanted).length === 0 || found.length > 0;
  return isFound && !values.some((value) => excluded.some((listed) => listed === value));
}

function satisfiesAll(wanted: StringMatcher, value: string): boolean {
  const slices = sliceAll(value);
  const { is, starts_with: prefix, ends_with: suffix, contains, in: listed } = wanted;
  return (
    (is === undefined || value === is) &&
    (prefix === undefined || slices.some(({ slice, start }) => slice === prefix && start === 0)) &&
    (suffix === undefined ||
      slices.some(({ slice, end }) => slice === suffix && end === value.length)) &&
    (contains === undefined || slices.some(({ slice }) => slice === contains)) &&
    (listed === undefined || listed.some((one) => one === value))
  );
}

function sliceAll(value: string): { slice: string; start: number; end: number }[] {
  const places = Array.from({ length: value.length + 1 }, (_, index) => index);
  return places.flatMap((start) =>
    places
      .filter((end) => end >= start)
      .map((end) => ({ slice: value.slice(start, end), start, end })),
  );
}

function foldAll(operators: StringMatcher): StringMatcher {
  return JSON.parse(foldAsciiCase(JSON.stringify(operators))) as StringMatcher;
}
