import type { Criterion, PolicyBlock } from '../../shared/snapshot/policy.ts';
import type { PolicyInput } from './decision.ts';
import type { CriterionPosition, PositionedCriterion } from './build-criterion.ts';
import type { Reason } from './reason.ts';

/** The result of a block for one request. */
export interface BlockResult {
  readonly holds: boolean;
  /** Codes of the criteria that decided the result, each once, in the policy's order. */
  readonly reasons: readonly Reason[];
}

/** A block ready to be evaluated. */
export type BlockEvaluator = (input: PolicyInput) => BlockResult;

interface Group {
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
    return [{ needsAll, criteria: criteria.map((criterion) => build(criterion, name)) }];
  });
  if (groups.length === 0) throw new Error('a policy has a block without groups');
  return (input) => evaluate(groups, input);
}

/** Evaluates every criterion once, so that the reasons are complete. */
function evaluate(groups: readonly Group[], input: PolicyInput): BlockResult {
  const satisfiedBy: Reason[] = [];
  const unsatisfiedBy: Reason[] = [];
  let holds = false;
  for (const { criteria, needsAll } of groups) {
    const outcomes = criteria.map((criterion) => criterion.isSatisfied(input));
    const groupHolds = needsAll ? !outcomes.includes(false) : outcomes.includes(true);
    const reasons = groupHolds ? satisfiedBy : unsatisfiedBy;
    criteria.forEach(({ whenSatisfied, whenUnsatisfied }, index) => {
      if (outcomes[index] !== groupHolds) return;
      const reason = reasonFor(input, groupHolds ? whenSatisfied : whenUnsatisfied);
      if (!reasons.includes(reason)) reasons.push(reason);
    });
    holds ||= groupHolds;
  }
  return { holds, reasons: holds ? satisfiedBy : unsatisfiedBy };
}

/** A request that calls no tool has none that could be in order. */
function reasonFor({ toolName }: PolicyInput, reason: Reason): Reason {
  return reason === 'mcp-tool-ok' && toolName === undefined ? 'mcp-no-tool' : reason;
}
