import type { Automaton } from './regex/automaton.ts';
import type { Reading } from './regex/character-set.ts';
import { ExpressionBudget, ExpressionTooLargeError } from './regex/expression-budget.ts';
import { makeAutomaton } from './regex/make-automaton.ts';
import { makeNodes } from './regex/nodes.ts';
import { parseRegex, type Sequence } from './regex/parse-regex.ts';

/** A regular expression that is ready to match paths, or the problem with it. */
export type PathExpression =
  | { readonly kind: 'made'; readonly automaton: Automaton }
  | { readonly kind: 'invalid'; readonly problem: string };

/**
 * Makes a regular expression (ECMAScript, `u` flag) ready to match whole paths in one reading.
 *
 * Attack: an engine that backtracks takes exponential time for expressions such as `(a+)+`, and one long
 * path then stalls a whole proxy. Here all states are made beforehand, so that matching takes one step for
 * each character.
 */
export function makePathExpression(source: string, reading: Reading): PathExpression {
  const syntaxProblem = syntaxProblemOf(source);
  if (syntaxProblem !== undefined) {
    return invalid(`is not a valid regular expression: ${syntaxProblem}`);
  }
  const branches = parseRegex(source, reading);
  if (usesUnsupported(branches)) {
    return invalid('must not use look-around, back references or inline modifiers');
  }
  const budget = new ExpressionBudget();
  try {
    return { kind: 'made', automaton: makeAutomaton(makeNodes(branches, budget), budget) };
  } catch (error) {
    if (!(error instanceof ExpressionTooLargeError)) throw error;
    return invalid(TOO_LARGE);
  }
}

/** Returns the problem with the expression of a route; undefined if it can be used in both readings. */
export function regexProblem(source: string): string | undefined {
  for (const reading of READINGS) {
    const expression = makePathExpression(source, reading);
    if (expression.kind === 'invalid') return expression.problem;
  }
  return undefined;
}

const READINGS: readonly Reading[] = ['exact', 'loose'];

const TOO_LARGE =
  'needs too many states: repeat fewer parts a number of times, such as the 20 in .*a.{20}, and write [^/]* in place of .*';

function invalid(problem: string): PathExpression {
  return { kind: 'invalid', problem };
}

function syntaxProblemOf(source: string): string | undefined {
  try {
    return new RegExp(source, 'u').unicode ? undefined : 'not read as Unicode';
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.slice(message.lastIndexOf(': ') + 2);
  }
}

function usesUnsupported(branches: readonly Sequence[]): boolean {
  return branches.some((branch) =>
    branch.some(
      ({ content }) =>
        content.kind === 'unsupported' ||
        (content.kind === 'group' && usesUnsupported(content.branches)),
    ),
  );
}
