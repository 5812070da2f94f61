import type { Status } from './compare-status.ts';
import { findCondition, type Condition } from './condition.ts';

/** Something that people who look at an object should hear of. */
export interface StatusEvent {
  readonly type: 'Normal' | 'Warning';
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

/**
 * What a status says the opposite of than the one before. Nothing for a resource that nothing was
 * said about before: its conditions tell.
 */
export function eventsOfChange(before: Status | undefined, after: Status): readonly StatusEvent[] {
  const was = findCondition(before?.conditions, 'Programmed');
  const is = findCondition(after.conditions, 'Programmed');
  if (was === undefined || is === undefined) return [];
  return [
    ...announceAcceptance(was, is, after),
    ...announceRejection(was, is),
    ...announceHoldBack(was, is, before),
  ];
}

function announceAcceptance(was: Condition, is: Condition, after: Status): readonly StatusEvent[] {
  if (isRefused(was) === isRefused(is)) return [];
  if (!isRefused(is)) {
    return [{ type: 'Normal', reason: 'Accepted', message: 'The newest generation is accepted.' }];
  }
  const conditions = ['Accepted', 'ResolvedRefs'] as const;
  const why = conditions
    .map((type) => findCondition(after.conditions, type))
    .find((condition) => condition?.status === 'False');
  return [{ type: 'Warning', reason: (why ?? is).reason, message: (why ?? is).message }];
}

/** `Programmed` has this reason of whatever is not accepted, and of nothing else. */
function isRefused({ reason }: Condition): boolean {
  return reason === 'Invalid';
}

function announceRejection(was: Condition, is: Condition): readonly StatusEvent[] {
  if (is.reason !== 'Rejected' || was.reason === 'Rejected') return [];
  return [{ type: 'Warning', reason: 'RejectedByProxy', message: is.message }];
}

function isHeldBack({ reason }: Condition): boolean {
  return reason === 'HeldBack';
}

/** Only of GatewaySettings, which stand for all routes. Those alone count the routes. */
function announceHoldBack(
  was: Condition,
  is: Condition,
  before: Status | undefined,
): readonly StatusEvent[] {
  const isSettings = before !== undefined && 'attachedRoutes' in before;
  if (!isSettings || isHeldBack(was) === isHeldBack(is)) return [];
  if (isHeldBack(is)) {
    return [{ type: 'Warning', reason: 'PublicationHeldBack', message: is.message }];
  }
  return [
    { type: 'Normal', reason: 'PublicationResumed', message: 'Changes are published again.' },
  ];
}
