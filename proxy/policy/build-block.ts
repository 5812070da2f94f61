import { REASONS_OF_TOOL_CALLS } from '../../shared/policy/criteria.ts';
import type { Outcome, SubjectValue } from '../../shared/policy/language/criterion-definition.ts';
import type { PolicyInput } from '../../shared/policy/language/policy-input.ts';
import type { Criterion, PolicyBlock } from '../../shared/policy/policy.ts';
import type { CriterionPosition, PositionedCriterion } from './build-criterion.ts';

/** The result of a block for one request. */
export interface BlockResult {
  readonly holds: boolean;
  /** Codes of the criteria that decided the result, each once, in the policy's order. */
  readonly reasons: readonly string[];
}

/** A block ready to be evaluated. */
export interface BlockEvaluator {
  /** The criteria of all groups, in the order of their reasons. */
  readonly criteria: readonly PositionedCriterion[];
  /** Returns the result for whether each of the criteria is satisfied. */
  resultOf(outcomes: readonly boolean[], callsTool: boolean): BlockResult;
  /** Shows the result of every group and criterion, by the same tests. */
  explain(input: PolicyInput): readonly ExplainedGroup[];
}

/** The result of a group for one request. */
export interface ExplainedGroup {
  readonly group: keyof PolicyBlock;
  readonly holds: boolean;
  readonly criteria: readonly ExplainedCriterion[];
}

/** The result of a criterion for one request. */
export interface ExplainedCriterion {
  readonly criterion: Criterion;
  /** The value that it looks at. Undefined if the request has none that it can use. */
  readonly value: SubjectValue;
  /** Undefined if it cannot be decided, and counts against the request. */
  readonly outcome: Outcome;
  /** Whether its group needs this result. */
  readonly isSatisfied: boolean;
  /** Its code in the authorization log. */
  readonly reason: string;
}

interface Group {
  readonly name: keyof PolicyBlock;
  readonly needsAll: boolean;
  readonly criteria: readonly PositionedCriterion[];
}

/** The groups of a block, in the order of their reasons. */
const GROUPS = [
  { name: 'and', needsAll: true },
  { name: 'or', needsAll: false },
  { name: 'not', needsAll: true },
  { name: 'nor', needsAll: false },
] as const satisfies readonly { name: keyof PolicyBlock; needsAll: boolean }[];

/**
 * Builds the evaluator of one block of a policy, which holds when any of its groups does.
 *
 * Throws if the block or a group is empty, or a group is unknown: `every` of an empty list is true, and
 * would allow everyone.
 */
export function buildBlock(
  block: PolicyBlock,
  build: (criterion: Criterion, group: CriterionPosition['group']) => PositionedCriterion,
): BlockEvaluator {
  const unknown = Object.keys(block).find((key) => !GROUPS.some(({ name }) => name === key));
  if (unknown !== undefined) throw new Error(`a policy has an unknown group "${unknown}"`);
  const groups = GROUPS.flatMap(({ name, needsAll }): Group[] => {
    const criteria = block[name];
    if (criteria === undefined) return [];
    if (criteria.length === 0) throw new Error(`a policy has an empty group "${name}"`);
    return [{ name, needsAll, criteria: criteria.map((criterion) => build(criterion, name)) }];
  });
  if (groups.length === 0) throw new Error('a policy has a block without groups');
  return {
    criteria: groups.flatMap(({ criteria }) => criteria),
    resultOf: (outcomes, callsTool) => resultOf(groups, outcomes, callsTool),
    explain: (input) => groups.map((group) => explained(group, input)),
  };
}

function resultOf(
  groups: readonly Group[],
  outcomesOfAll: readonly boolean[],
  callsTool: boolean,
): BlockResult {
  const satisfiedBy: string[] = [];
  const unsatisfiedBy: string[] = [];
  let holds = false;
  let start = 0;
  for (const { criteria, needsAll } of groups) {
    const outcomes = outcomesOfAll.slice(start, (start += criteria.length));
    const groupHolds = needsAll ? !outcomes.includes(false) : outcomes.includes(true);
    const reasons = groupHolds ? satisfiedBy : unsatisfiedBy;
    criteria.forEach((criterion, index) => {
      if (outcomes[index] !== groupHolds) return;
      const reason = reasonFor(callsTool, criterion, groupHolds);
      if (!reasons.includes(reason)) reasons.push(reason);
    });
    holds ||= groupHolds;
  }
  return { holds, reasons: holds ? satisfiedBy : unsatisfiedBy };
}

function explained({ name, needsAll, criteria }: Group, input: PolicyInput): ExplainedGroup {
  const explanations = criteria.map((criterion): ExplainedCriterion => {
    const isSatisfied = criterion.isSatisfied(input);
    return {
      criterion: criterion.criterion,
      value: criterion.valueOf(input),
      outcome: criterion.test(input),
      isSatisfied,
      reason: reasonFor(input.toolName !== undefined, criterion, isSatisfied),
    };
  });
  const isSatisfied = (one: ExplainedCriterion): boolean => one.isSatisfied;
  const holds = needsAll ? explanations.every(isSatisfied) : explanations.some(isSatisfied);
  return { group: name, holds, criteria: explanations };
}

/** A request that calls no tool has none that could be in order. */
function reasonFor(
  callsTool: boolean,
  { whenSatisfied, whenUnsatisfied }: PositionedCriterion,
  isSatisfied: boolean,
): string {
  const reason = isSatisfied ? whenSatisfied : whenUnsatisfied;
  return !callsTool && OF_A_TOOL.includes(reason) ? 'mcp-no-tool' : reason;
}

const OF_A_TOOL = REASONS_OF_TOOL_CALLS.map(({ whenTrue }) => whenTrue);
