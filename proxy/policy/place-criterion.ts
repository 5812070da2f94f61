import type { Criterion, PolicyBlock } from '../../shared/snapshot/policy.ts';
import { buildCriterionTest } from './criteria/build-criterion-test.ts';
import type { PolicyInput } from './decision.ts';
import type { Reason } from './reason.ts';

/** Where a criterion stands in a policy. */
export interface Place {
  readonly block: 'allow' | 'deny';
  readonly group: keyof PolicyBlock;
}

/** A criterion where it stands: satisfied when it is true, or in `not` and `nor` when it is false. */
export interface PlacedCriterion {
  isSatisfied(input: PolicyInput): boolean;
  readonly whenSatisfied: Reason;
  readonly whenUnsatisfied: Reason;
}

/** Compiles a criterion for its place. */
export function placeCriterion(criterion: Criterion, { block, group }: Place): PlacedCriterion {
  const { holds, alsoHolds, whenTrue, whenFalse } = buildCriterionTest(criterion);
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

/** Allowed is what is allowed however it is read; denied, what is denied in any reading. */
function inAllReadings(block: Place['block'], one: Test, other: Test): Test {
  return block === 'allow'
    ? (input) => one(input) && other(input)
    : (input) => one(input) || other(input);
}

/**
 * The same, but an `mcp_tool` criterion speaks for permission whatever the request: it is satisfied
 * in `allow`, and not in `deny`.
 */
export function placeForAnyTool(criterion: Criterion, place: Place): PlacedCriterion {
  const placed = placeCriterion(criterion, place);
  if (criterion.kind !== 'mcp_tool') return placed;
  return { ...placed, isSatisfied: () => place.block === 'allow' };
}

/** Specification, evaluation rule 5: `mcp-tool-ok` is said of a tool that is permitted. */
const ABOUT_THE_TOOL = {
  allow: { whenSatisfied: 'mcp-tool-ok', whenUnsatisfied: 'mcp-tool-unauthorized' },
  deny: { whenSatisfied: 'mcp-tool-unauthorized', whenUnsatisfied: 'mcp-tool-ok' },
} as const;
