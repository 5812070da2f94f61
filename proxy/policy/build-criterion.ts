import { definitionOf } from '../../shared/policy/criteria.ts';
import type {
  CriterionDefinition,
  Outcome,
  SubjectValue,
} from '../../shared/policy/language/criterion-definition.ts';
import type { PolicyInput } from '../../shared/policy/language/policy-input.ts';
import type { Criterion, PolicyBlock } from '../../shared/policy/policy.ts';

/** The position of a criterion in a policy. */
export interface CriterionPosition {
  readonly block: 'allow' | 'deny';
  readonly group: keyof PolicyBlock;
}

/** A criterion at its position: satisfied when it is true, or when it is false in `not` and `nor`. */
export interface PositionedCriterion {
  readonly criterion: Criterion;
  isSatisfied(input: PolicyInput): boolean;
  readonly whenSatisfied: string;
  readonly whenUnsatisfied: string;
  /** The result at no position, and the value it is about: for explanations. */
  readonly test: (input: PolicyInput) => Outcome;
  readonly valueOf: (input: PolicyInput) => SubjectValue;
}

/** Builds a criterion for its position. Throws if its kind or its operand is unknown. */
export function buildCriterion(
  criterion: Criterion,
  position: CriterionPosition,
): PositionedCriterion {
  const { kind, ...operand } = criterion;
  const definition = definitionOf(kind);
  if (definition === undefined) throw new Error(`a policy has an unknown criterion "${kind}"`);
  // The schema gives a criterion the operand of its kind.
  const { test, valueOf } = definition.build(operand);
  const isSatisfied = positioned(test, position);
  return { criterion, isSatisfied, ...reasonsAt(definition, position), test, valueOf };
}

/**
 * Builds a criterion as `buildCriterion` does, but those about the call of a tool favour every request:
 * they are satisfied in `allow`, and not in `deny`.
 */
export function buildCriterionForAnyTool(
  criterion: Criterion,
  position: CriterionPosition,
): PositionedCriterion {
  const built = buildCriterion(criterion, position);
  if (!isAboutToolCall(criterion)) return built;
  return { ...built, isSatisfied: () => position.block === 'allow' };
}

/** Returns whether a criterion is about the call of a tool, so that only the call is denied by it. */
export function isAboutToolCall({ kind }: Criterion): boolean {
  return definitionOf(kind)?.ofToolCall === true;
}

/** Returns whether the user alone decides a criterion, so that every request of the user has its result. */
export function isAboutUser({ kind }: Criterion): boolean {
  return definitionOf(kind)?.ofUser === true;
}

/** What cannot be decided is not satisfied in `allow`, and satisfied in `deny`, in every group. */
function positioned(
  test: (input: PolicyInput) => Outcome,
  { block, group }: CriterionPosition,
): (input: PolicyInput) => boolean {
  const wanted = group === 'and' || group === 'or';
  return block === 'allow' ? (input) => test(input) === wanted : (input) => test(input) !== !wanted;
}

type Reasons = Pick<PositionedCriterion, 'whenSatisfied' | 'whenUnsatisfied'>;

/** Specification, evaluation rule 5: `mcp-tool-ok` is the reason for a permitted tool. */
function reasonsAt(
  { reasons: { whenTrue, whenFalse }, ofToolCall }: CriterionDefinition,
  { block, group }: CriterionPosition,
): Reasons {
  const isNegated = ofToolCall === true ? block === 'deny' : group === 'not' || group === 'nor';
  return isNegated
    ? { whenSatisfied: whenFalse, whenUnsatisfied: whenTrue }
    : { whenSatisfied: whenTrue, whenUnsatisfied: whenFalse };
}
