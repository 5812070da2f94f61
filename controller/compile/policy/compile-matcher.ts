import type { StringMatcher } from '../../../shared/snapshot/policy.ts';
import { memberPath } from '../../validate/field-path.ts';
import { all, andThen, made, invalid, type CompileResult } from '../compile-result.ts';
import { compileMembers } from './compile-members.ts';

/** How a criterion uses its matcher. */
export interface MatcherRules {
  /** The criterion looks at a list, and `has` means the same as `is`. */
  readonly allowsHas?: true;
  /** Returns the problem with a value that can never match. */
  readonly problemOf?: (value: string, operator: Operator) => string | undefined;
}

type Operator = keyof StringMatcher;

const OPERATORS = ['is', 'starts_with', 'ends_with', 'contains', 'in', 'not_in'] as const;

/** Compiles a matcher: a text, which means `is`, or an object of operators. */
export function compileMatcher(
  matcher: unknown,
  path: string,
  rules: MatcherRules,
): CompileResult<StringMatcher> {
  if (typeof matcher === 'string') return compileOperator('is', matcher, { path, rules });
  if (typeof matcher !== 'object' || matcher === null || Array.isArray(matcher)) {
    const hint = ['number', 'boolean'].includes(typeof matcher) ? ' (in quotes)' : '';
    return invalid(path, 'InvalidPolicy', `must be a text${hint} or an object of operators`);
  }
  const allowsHas = rules.allowsHas === true;
  if (allowsHas && Object.hasOwn(matcher, 'is') && Object.hasOwn(matcher, 'has')) {
    return invalid(path, 'InvalidPolicy', 'must not have both "is" and "has", which are the same');
  }
  const operators = compileMembers(matcher, path, {
    what: 'operator',
    known: allowsHas ? [...OPERATORS, 'has'] : OPERATORS,
    compile: (name, operand, operandPath) => {
      const operator = OPERATORS.find((known) => known === name) ?? 'is';
      return compileOperator(operator, operand, { path: operandPath, rules });
    },
  });
  return andThen(operators, (compiled) =>
    made(Object.values(compiled).reduce((whole, one) => ({ ...whole, ...one }), {})),
  );
}

interface Place {
  readonly path: string;
  readonly rules: MatcherRules;
}

function compileOperator(
  operator: Operator,
  operand: unknown,
  { path, rules }: Place,
): CompileResult<StringMatcher> {
  const text = (value: unknown, at: string): CompileResult<string> =>
    compileText(value, at, operator, rules);
  switch (operator) {
    case 'is':
    case 'starts_with':
    case 'ends_with':
    case 'contains':
      return andThen(text(operand, path), (value) => made({ [operator]: value }));
    case 'in':
    case 'not_in': {
      if (!Array.isArray(operand)) return invalid(path, 'InvalidPolicy', 'must be a list of texts');
      if (operand.length === 0) return invalid(path, 'InvalidPolicy', 'must not be empty');
      const values: readonly unknown[] = operand;
      const texts = all(values.map((value, index) => text(value, memberPath(path, index))));
      return andThen(texts, (list) => made({ [operator]: list }));
    }
  }
}

function compileText(
  value: unknown,
  path: string,
  operator: Operator,
  rules: MatcherRules,
): CompileResult<string> {
  if (typeof value !== 'string') return invalid(path, 'InvalidPolicy', 'must be a text');
  if (value === '') return invalid(path, 'InvalidPolicy', 'must not be empty');
  const problem = rules.problemOf?.(value, operator);
  if (problem !== undefined) return invalid(path, 'InvalidPolicy', problem);
  return made(value);
}
