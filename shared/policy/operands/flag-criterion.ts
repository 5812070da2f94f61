import type { CriterionDefinition, Report } from '../language/criterion-definition.ts';
import type { PolicyInput } from '../language/policy-input.ts';

type Flag<Name extends string> = Pick<
  CriterionDefinition<Name>,
  'name' | 'reasons' | 'ofUser' | 'reads' | 'onlyOn' | 'row'
>;

/** Defines a criterion that is written with `true`, and compares nothing. */
export function flagCriterion<const Name extends string>(
  flag: Flag<Name>,
  test: (input: PolicyInput) => boolean,
): CriterionDefinition<Name, 'flag'> {
  return {
    ...flag,
    form: 'flag',
    readOperand,
    writeOperand: () => undefined,
    build: () => ({ test, valueOf: test }),
  };
}

function readOperand(value: unknown, report: Report): object | null {
  const isSet = value === true || value === null || value === '';
  return isSet ? {} : report('must be true');
}
