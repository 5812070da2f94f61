import type { RouteStatus } from '../kubernetes/stored-resources.ts';

/** One aspect of the state of a resource, as in its `status.conditions`. */
export type Condition = NonNullable<RouteStatus['conditions']>[number];

/** The types of the conditions that this gateway writes. */
export type ConditionType =
  | 'Accepted'
  | 'ResolvedRefs'
  | 'Programmed'
  | 'UpstreamAuthReady'
  | 'CertificatesValid'
  | 'PartiallyInvalid'
  | 'PartiallyInspected'
  | 'ConsentExposed';

/** A condition without its type and times. */
export type ConditionState = Pick<Condition, 'status' | 'reason' | 'message'>;

/** The condition of a type; undefined if there is none. */
export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: ConditionType,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Builds a condition. `lastTransitionTime` moves only when `status` changes. */
export function toCondition(
  type: ConditionType,
  state: ConditionState,
  {
    generation,
    current,
    now,
  }: {
    readonly generation: number;
    readonly current: readonly Condition[] | undefined;
    readonly now: Date;
  },
): Condition {
  const before = findCondition(current, type);
  const isSame = before?.status === state.status;
  const lastTransitionTime = isSame ? before.lastTransitionTime : wholeSeconds(now);
  return { type, ...state, observedGeneration: generation, lastTransitionTime };
}

/** Formats a time as `metav1.Time` does: RFC 3339 in whole seconds. */
export function wholeSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
