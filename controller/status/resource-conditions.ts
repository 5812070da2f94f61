import { findCondition, toCondition, type Condition, type ConditionState } from './condition.ts';
import { programmedState, type PublicationState } from './programmed-state.ts';
import {
  acceptedState,
  consentExposedState,
  partiallyInspectedState,
  partiallyInvalidState,
  resolvedRefsState,
  type VerdictSummary,
} from './verdict-states.ts';

/** Input of `resourceConditions`. */
export interface ConditionInput {
  readonly summary: VerdictSummary;
  readonly publication: PublicationState;
  /** Undefined for resources without upstream OAuth. */
  readonly upstreamAuth?: ConditionState | undefined;
  /** Undefined for resources without certificates. */
  readonly certificates?: ConditionState | undefined;
  /** The current conditions. */
  readonly current: readonly Condition[] | undefined;
  /** Whether `Programmed` stays true for the generation that it is already true for. */
  readonly staysProgrammed: boolean;
  readonly now: Date;
}

/** Builds the conditions of a resource. */
export function resourceConditions(input: ConditionInput): readonly Condition[] {
  const { summary, publication, current, now } = input;
  const since = { generation: summary.generation, current, now };
  const isProgrammed = input.staysProgrammed && isProgrammedAt(summary.generation, current);
  const programmed = programmedState(summary, publication, isProgrammed);
  const someHave = [
    ['UpstreamAuthReady', input.upstreamAuth],
    ['CertificatesValid', input.certificates],
    ['PartiallyInvalid', partiallyInvalidState(summary)],
    ['PartiallyInspected', partiallyInspectedState(summary)],
    ['ConsentExposed', consentExposedState(summary)],
  ] as const;
  return [
    toCondition('Accepted', acceptedState(summary), since),
    toCondition('ResolvedRefs', resolvedRefsState(summary), since),
    toCondition('Programmed', programmed, since),
    ...someHave.flatMap(([type, state]) =>
      state === undefined ? [] : [toCondition(type, state, since)],
    ),
  ];
}

function isProgrammedAt(generation: number, current: readonly Condition[] | undefined): boolean {
  const condition = findCondition(current, 'Programmed');
  return condition?.status === 'True' && condition.observedGeneration === generation;
}
