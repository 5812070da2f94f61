import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';

import { FieldRules } from '../../../../proxy/forwarding/field-rules.ts';

/** Names that agree in length, in their beginnings, and in all but the case. */
const similarName = fc
  .array(fc.constantFrom('a', 'A', 'b', 'x-', 'X-', '_'), { minLength: 0, maxLength: 40 })
  .map((parts) => parts.join(''));

describe('the rules for header fields', () => {
  test('agree with rules that are made each time, whatever names came before', () => {
    fc.assert(
      fc.property(fc.array(similarName, { maxLength: 400 }), (names) => {
        const rules = new FieldRules((lower) => `rule of ${lower}`);
        for (const name of [...names, ...names]) {
          expect(rules.ruleFor(name)).toEqual({ name, rule: `rule of ${name.toLowerCase()}` });
        }
      }),
    );
  });

  test('are made once for each spelling', () => {
    const makeRule = jest.fn((lower: string) => lower.length);
    const rules = new FieldRules(makeRule);
    for (const name of ['Accept', 'accept', 'Accept', 'Cookie', 'accept']) rules.ruleFor(name);
    expect(makeRule.mock.calls.flat()).toEqual(['accept', 'accept', 'cookie']);
  });

  // Attack: names that a client makes up fill the memory, or keep the rules of common names from being remembered.
  test('remember a common name again after any number of others', () => {
    const makeRule = jest.fn((lower: string) => lower);
    const rules = new FieldRules(makeRule);
    const madeUp = Array.from({ length: 5_000 }, (_, at) => `x-${String(at).padStart(10, '0')}`);
    for (const name of madeUp) rules.ruleFor(name);
    rules.ruleFor('content-type');
    makeRule.mockClear();
    rules.ruleFor('content-type');
    expect(makeRule).not.toHaveBeenCalled();
    for (const name of madeUp) rules.ruleFor(name);
    expect(makeRule).toHaveBeenCalledTimes(madeUp.length);
  });

  test('are made each time for names that are too long to be common', () => {
    const makeRule = jest.fn((lower: string) => lower);
    const rules = new FieldRules(makeRule);
    const name = 'X-Long-'.repeat(20);
    expect([rules.ruleFor(name).rule, rules.ruleFor(name).rule]).toEqual([
      name.toLowerCase(),
      name.toLowerCase(),
    ]);
    expect(makeRule).toHaveBeenCalledTimes(2);
  });
});
