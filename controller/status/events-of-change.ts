import type { Status } from './compare-status.ts';
import { findCondition, type Condition } from './condition.ts';

/** The content of an Event about a resource. */
export interface StatusEvent {
  readonly type: 'Normal' | 'Warning';
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Returns the Events about a change of status. A resource without an earlier status gets none, because
 * its conditions are enough.
 */
export function eventsOfChange(before: Status | undefined, after: Status): readonly StatusEvent[] {
  const was = findCondition(before?.conditions, 'Programmed');
  const is = findCondition(after.conditions, 'Programmed');
  if (was === undefined || is === undefined) return [];
  return [
    ...acceptanceEvents(was, is, after),
    ...referenceEvents({ was, is }, before, after),
    ...certificateEvents(before, after),
    ...rejectionEvents(was, is),
    ...holdBackEvents(was, is, before),
  ];
}

function acceptanceEvents(was: Condition, is: Condition, after: Status): readonly StatusEvent[] {
  if (isInvalid(was) === isInvalid(is)) return [];
  if (!isInvalid(is)) {
    return [{ type: 'Normal', reason: 'Accepted', message: 'The newest generation is accepted.' }];
  }
  const conditions = ['Accepted', 'ResolvedRefs'] as const;
  const why = conditions
    .map((type) => findCondition(after.conditions, type))
    .find((condition) => condition?.status === 'False');
  return [{ type: 'Warning', reason: (why ?? is).reason, message: (why ?? is).message }];
}

/**
 * A resource that serves although something that it refers to is missing. One that cannot be used for this reason has
 * the Event about that.
 */
function referenceEvents(
  { was, is }: { readonly was: Condition; readonly is: Condition },
  before: Status | undefined,
  after: Status,
): readonly StatusEvent[] {
  if (isInvalid(was) || isInvalid(is)) return [];
  const [found, finds] = [before, after].map((status) =>
    findCondition(status?.conditions, 'ResolvedRefs'),
  );
  if (found === undefined || finds === undefined) return [];
  if (finds.status === 'False') {
    // Another reference may fail while the first still does, or one of several may be mended.
    if (found.status === 'False' && found.message === finds.message) return [];
    return [{ type: 'Warning', reason: finds.reason, message: finds.message }];
  }
  if (found.status !== 'False' || finds.status !== 'True') return [];
  return [{ type: 'Normal', reason: 'ResolvedRefs', message: finds.message }];
}

/** One for each certificate that comes nearer to its end, and one when it is renewed. */
function certificateEvents(before: Status | undefined, after: Status): readonly StatusEvent[] {
  const was = findCondition(before?.conditions, 'CertificatesValid');
  const is = findCondition(after.conditions, 'CertificatesValid');
  if (is === undefined || is.reason === was?.reason) return [];
  const { reason, message } = is;
  if (is.status === 'False') return [{ type: 'Warning', reason, message }];
  return was === undefined ? [] : [{ type: 'Normal', reason, message }];
}

/** `Programmed` has this reason if the newest generation cannot be used, and in no other case. */
function isInvalid({ reason }: Condition): boolean {
  return reason === 'Invalid';
}

function rejectionEvents(was: Condition, is: Condition): readonly StatusEvent[] {
  if (is.reason !== 'Rejected' || was.reason === 'Rejected') return [];
  return [{ type: 'Warning', reason: 'RejectedByProxy', message: is.message }];
}

function isHeldBack({ reason }: Condition): boolean {
  return reason === 'HeldBack';
}

/** Only for GatewaySettings, which stand for all routes; only their status counts routes. */
function holdBackEvents(
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
