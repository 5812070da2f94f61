import { findCondition, toCondition, type Condition } from './condition.ts';
import { programmedClaim, type Progress } from './programmed-claim.ts';
import {
  acceptedClaim,
  partiallyInvalidClaim,
  resolvedRefsClaim,
  type Decision,
} from './verdict-claims.ts';

/** What the conditions of a resource are made of. */
export interface ConditionInput {
  readonly decision: Decision;
  readonly progress: Progress;
  /** The conditions it has. */
  readonly current: readonly Condition[] | undefined;
  /** Whether `Programmed` stays true of the generation that it is true of. */
  readonly staysProgrammed: boolean;
  readonly now: Date;
}

/** The conditions that a resource should have. */
export function resourceConditions(input: ConditionInput): readonly Condition[] {
  const { decision, progress, current, now } = input;
  const since = { generation: decision.generation, current, now };
  const isProgrammed = input.staysProgrammed && isProgrammedAt(decision.generation, current);
  const programmed = programmedClaim(decision, progress, isProgrammed);
  const partiallyInvalid = partiallyInvalidClaim(decision);
  return [
    toCondition('Accepted', acceptedClaim(decision), since),
    toCondition('ResolvedRefs', resolvedRefsClaim(decision), since),
    toCondition('Programmed', programmed, since),
    ...(partiallyInvalid === undefined
      ? []
      : [toCondition('PartiallyInvalid', partiallyInvalid, since)]),
  ];
}

function isProgrammedAt(generation: number, current: readonly Condition[] | undefined): boolean {
  const condition = findCondition(current, 'Programmed');
  return condition?.status === 'True' && condition.observedGeneration === generation;
}
