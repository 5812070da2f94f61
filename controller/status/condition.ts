import type { RouteStatus } from '../kubernetes/stored-resources.ts';

/** One aspect of the state of a resource, as in its `status.conditions`. */
export type Condition = NonNullable<RouteStatus['conditions']>[number];

export type ConditionType = 'Accepted' | 'ResolvedRefs' | 'Programmed' | 'PartiallyInvalid';

/** What a condition says, but for when it began to. */
export type ConditionState = Pick<Condition, 'status' | 'reason' | 'message'>;

/** The condition of that type; undefined when nothing was said about it yet. */
export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: ConditionType,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** A condition that says that; the time is moved only when its `status` becomes another. */
export function toCondition(
  type: ConditionType,
  claim: ConditionState,
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
  const isSame = before?.status === claim.status;
  const lastTransitionTime = isSame ? before.lastTransitionTime : wholeSeconds(now);
  return { type, ...claim, observedGeneration: generation, lastTransitionTime };
}

/** RFC 3339 as `metav1.Time` has it. */
export function wholeSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
