import type { Condition } from '../../controller/status/condition.ts';

/** Why something is not as it should be. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  /** Since when, in milliseconds since the epoch; absent if nothing says it. */
  readonly since?: number;
}

/** Conditions that are there only while they are true, and say more about another condition or a warning. */
const WHILE_TRUE: ReadonlySet<string> = new Set([
  'PartiallyInvalid',
  'PartiallyInspected',
  'ConsentExposed',
]);

/** Before anybody connected, it is unknown whether users can. */
const UNTRIED = 'NotTried';

/** Returns the cause in the first condition that is not true and should be; a cause comes before its effects. */
export function unmetCause(conditions: readonly Condition[]): Cause | undefined {
  const failed = conditions.find(
    ({ type, status, reason }) => status !== 'True' && !WHILE_TRUE.has(type) && reason !== UNTRIED,
  );
  if (failed === undefined) return undefined;
  const { reason, message, lastTransitionTime } = failed;
  return { reason, message, since: Date.parse(lastTransitionTime) };
}
