import type {
  BuiltCriterion,
  CriterionDefinition,
  Outcome,
  Report,
  StringMatcher,
} from '../language/criterion-definition.ts';
import type { PolicyInput } from '../language/policy-input.ts';
import { readMatcher, type MatcherRules } from './read-matcher.ts';
import { buildStringTest, type Fold, type StringTest } from './string-test.ts';

/**
 * The value or values that a matcher is applied to. Undefined if the value is absent or has the wrong
 * type: nothing can be decided then. Null if the request is not about such a thing: the criterion is
 * false.
 */
export type MatchedValue = string | readonly string[] | undefined | null;

/** Reads the value of a request. */
export type ReadValue = (input: PolicyInput) => MatchedValue;

type Described<Name extends string> = Pick<
  CriterionDefinition<Name>,
  'name' | 'reasons' | 'ofToolCall' | 'ofUser' | 'reads' | 'onlyOn' | 'row'
>;

/** How a matcher is written and applied. */
interface Matching {
  readonly rules?: MatcherRules;
  /** Changes operands and values before they are compared. */
  readonly fold?: Fold;
  /** The value as another program may read it. If the readings disagree, nothing can be decided. */
  readonly looseFoldFor?: (matcher: StringMatcher) => Fold;
  /** The values are things of which each must be decided alike, not alternatives. */
  readonly each?: true;
}

/** Defines a criterion with a matcher. */
export function matcherCriterion<const Name extends string>(
  description: Described<Name>,
  matching: Matching & { readonly read: ReadValue },
): CriterionDefinition<Name, 'matcher'> {
  return {
    ...description,
    form: 'matcher',
    readOperand: operandReader(matching),
    writeOperand: ({ matcher }) => matcher,
    build: ({ matcher }) => applied(matcher, matching.read, matching),
  };
}

/** Defines a criterion with a matcher and a path, which is written behind its name. */
export function matcherAtPathCriterion<const Name extends string>(
  description: Described<Name> &
    Required<Pick<CriterionDefinition, 'readPath' | 'writePath' | 'example'>>,
  matching: Matching & { readonly readerAt: (path: readonly string[]) => ReadValue },
): CriterionDefinition<Name, 'matcher-at-path'> {
  return {
    ...description,
    form: 'matcher-at-path',
    readOperand: operandReader(matching),
    writeOperand: ({ matcher }) => matcher,
    build: ({ path, matcher }) => applied(matcher, matching.readerAt(path), matching),
  };
}

interface MatcherOperand {
  readonly matcher: StringMatcher;
}

function operandReader({
  rules = {},
}: Matching): CriterionDefinition<string, 'matcher'>['readOperand'] {
  return (value: unknown, report: Report): MatcherOperand | null => {
    const matcher = readMatcher(value, rules, report);
    return matcher && { matcher };
  };
}

function applied(
  matcher: StringMatcher,
  read: ReadValue,
  { fold, looseFoldFor, each }: Matching,
): BuiltCriterion {
  const testBy = each === true ? testOfEach : testOf;
  const exactly = testBy(buildStringTest(matcher, fold), read);
  const valueOf = (input: PolicyInput): string | readonly string[] | undefined =>
    read(input) ?? undefined;
  if (looseFoldFor === undefined) return { test: exactly, valueOf };
  const loosely = testBy(buildStringTest(matcher, looseFoldFor(matcher)), read);
  const test = (input: PolicyInput): Outcome => {
    const outcome = exactly(input);
    return outcome === loosely(input) ? outcome : undefined;
  };
  return { test, valueOf };
}

function testOf(matcher: StringTest, read: ReadValue): (input: PolicyInput) => Outcome {
  return (input) => {
    const value = read(input);
    if (typeof value === 'string') return matcher.matches(value);
    if (value === undefined) return undefined;
    return value !== null && matcher.matchesAny(value);
  };
}

/** Nothing can be decided if some values match and others do not: the request is about all of them. */
function testOfEach(matcher: StringTest, read: ReadValue): (input: PolicyInput) => Outcome {
  return (input) => {
    const values = read(input);
    if (!Array.isArray(values)) return values === null ? false : undefined;
    const [first, ...rest] = values.map((value: string) => matcher.matches(value));
    return rest.every((outcome) => outcome === first) ? first : undefined;
  };
}
