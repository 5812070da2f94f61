import type { Criterion, PolicyBlock } from '../../shared/snapshot/policy.ts';
import { buildCriterionPredicate } from './criteria/build-criterion-predicate.ts';
import type { PolicyInput } from './decision.ts';
import type { Reason } from './reason.ts';

/** The position of a criterion in a policy. */
export interface CriterionPosition {
  readonly block: 'allow' | 'deny';
  readonly group: keyof PolicyBlock;
}

/** A criterion at its position: satisfied when it is true, or when it is false in `not` and `nor`. */
export interface PositionedCriterion {
  isSatisfied(input: PolicyInput): boolean;
  readonly whenSatisfied: Reason;
  readonly whenUnsatisfied: Reason;
}

/** Builds a criterion for its position. */
export function buildCriterion(
  criterion: Criterion,
  { block, group }: CriterionPosition,
): PositionedCriterion {
  const { holds, alsoHolds, whenTrue, whenFalse } = buildCriterionPredicate(criterion);
  const isNegated = group === 'not' || group === 'nor';
  const negatedOrNot = (test: Test): Test => (isNegated ? (input) => !test(input) : test);
  const isSatisfied =
    alsoHolds === undefined
      ? negatedOrNot(holds)
      : inAllReadings(block, negatedOrNot(holds), negatedOrNot(alsoHolds));
  if (criterion.kind === 'mcp_tool') return { isSatisfied, ...ABOUT_THE_TOOL[block] };
  return isNegated
    ? { isSatisfied, whenSatisfied: whenFalse, whenUnsatisfied: whenTrue }
    : { isSatisfied, whenSatisfied: whenTrue, whenUnsatisfied: whenFalse };
}

type Test = (input: PolicyInput) => boolean;

/** In `allow`, both readings of the path must hold; in `deny`, one of them is enough. */
function inAllReadings(block: CriterionPosition['block'], one: Test, other: Test): Test {
  return block === 'allow'
    ? (input) => one(input) && other(input)
    : (input) => one(input) || other(input);
}

/**
 * Builds a criterion as `buildCriterion` does, but `mcp_tool` favours every request: it is satisfied
 * in `allow`, and not in `deny`.
 */
export function buildCriterionForAnyTool(
  criterion: Criterion,
  position: CriterionPosition,
): PositionedCriterion {
  const built = buildCriterion(criterion, position);
  if (criterion.kind !== 'mcp_tool') return built;
  return { ...built, isSatisfied: () => position.block === 'allow' };
}

/** Specification, evaluation rule 5: `mcp-tool-ok` is the reason for a permitted tool. */
const ABOUT_THE_TOOL = {
  allow: { whenSatisfied: 'mcp-tool-ok', whenUnsatisfied: 'mcp-tool-unauthorized' },
  deny: { whenSatisfied: 'mcp-tool-unauthorized', whenUnsatisfied: 'mcp-tool-ok' },
} as const;
