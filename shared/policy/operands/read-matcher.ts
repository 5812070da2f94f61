import type { Report, StringMatcher } from '../language/criterion-definition.ts';

/** How a criterion uses its matcher. */
export interface MatcherRules {
  /** The criterion looks at a list: `has` means the same as `is`, and `exclude` the same as `not`. */
  readonly allowsHas?: true;
  /** Returns the problem with a value that can never match. */
  readonly problemOf?: (value: string, operator: keyof StringMatcher) => string | undefined;
}

const TEXT_OPERATORS = ['is', 'starts_with', 'ends_with', 'contains'] as const;
const LIST_OPERATORS = ['in', 'not_in'] as const;
const OPERATORS = [...TEXT_OPERATORS, 'not', ...LIST_OPERATORS];
const OPERATORS_ON_LISTS = [...OPERATORS, 'has', 'exclude'];

/** Far more than there are operators. */
const MAX_OPERATORS = 64;

/**
 * Attack: to look for 4,000 characters in 8,000 took 10 ms, and a policy may do that a thousand times. V8 has a
 * bound for parts of this length.
 */
const MAX_LENGTH_OF_PART = 250;

/** Reads a matcher of a manifest: a text, which means `is`, or an object of operators. */
export function readMatcher(
  written: unknown,
  rules: MatcherRules,
  report: Report,
): StringMatcher | null {
  if (typeof written === 'string') {
    const is = readText(written, 'is', { rules, report, place: [] });
    return is === null ? null : { is };
  }
  if (typeof written !== 'object' || written === null || Array.isArray(written)) {
    const quotes = ['number', 'boolean'].includes(typeof written) ? ' (in quotes)' : '';
    const list = Array.isArray(written) ? ', such as { in: [...] } for several texts' : '';
    return report(`must be a text${quotes} or an object of operators${list}`);
  }
  return readOperators({ ...written }, rules, report);
}

function readOperators(
  written: Readonly<Record<string, unknown>>,
  rules: MatcherRules,
  report: Report,
): StringMatcher | null {
  const known = rules.allowsHas === true ? OPERATORS_ON_LISTS : OPERATORS;
  const names = Object.keys(written);
  if (names.length === 0) return report(`must not be empty; can have ${known.join(', ')}`);
  if (names.length > MAX_OPERATORS) {
    return report(`has too many members; can have ${known.join(', ')}`);
  }
  for (const [one, other] of [
    ['is', 'has'],
    ['not', 'exclude'],
  ] as const) {
    if (names.includes(one) && names.includes(other)) {
      return report(`must not have both "${one}" and "${other}", which are the same`);
    }
  }
  const parts = names.map((name) =>
    known.includes(name)
      ? readOperator(name, written[name], { rules, report, place: [name] })
      : report('is not a known operator', [name], known),
  );
  return parts.reduce((whole, part) => whole && part && merged(whole, part), {});
}

/** `not` adds to `not_in`, wherever both are written. */
function merged(whole: StringMatcher, part: StringMatcher): StringMatcher {
  if (whole.not_in === undefined || part.not_in === undefined) return { ...whole, ...part };
  return { ...whole, not_in: [...whole.not_in, ...part.not_in] };
}

interface Place {
  readonly rules: MatcherRules;
  readonly report: Report;
  readonly place: readonly (string | number)[];
}

function readOperator(name: string, operand: unknown, at: Place): StringMatcher | null {
  const listed = LIST_OPERATORS.find((known) => known === name);
  if (listed !== undefined) {
    const values = readTexts(operand, listed, at);
    return values && { [listed]: values };
  }
  if (name === 'not' || name === 'exclude') {
    const value = readText(operand, 'not_in', at);
    return value === null ? null : { not_in: [value] };
  }
  const operator = TEXT_OPERATORS.find((known) => known === name) ?? 'is';
  const value = readText(operand, operator, at);
  return value === null ? null : { [operator]: value };
}

function readTexts(
  operand: unknown,
  operator: keyof StringMatcher,
  { rules, report, place }: Place,
): readonly string[] | null {
  if (!Array.isArray(operand)) return report('must be a list of texts', place);
  if (operand.length === 0) return report('must not be empty', place);
  const values: readonly unknown[] = operand;
  const texts = values.map((value, index) =>
    readText(value, operator, { rules, report, place: [...place, index] }),
  );
  const known = texts.filter((text) => text !== null);
  return known.length === texts.length ? known : null;
}

function readText(
  value: unknown,
  operator: keyof StringMatcher,
  { rules, report, place }: Place,
): string | null {
  if (typeof value !== 'string') return report('must be a text', place);
  if (value === '') return report('must not be empty', place);
  if (operator === 'contains' && value.length > MAX_LENGTH_OF_PART) {
    return report(`must not have more than ${String(MAX_LENGTH_OF_PART)} characters`, place);
  }
  const problem = rules.problemOf?.(value, operator);
  return problem === undefined ? value : report(problem, place);
}
