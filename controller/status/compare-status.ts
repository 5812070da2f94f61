import { isDeepStrictEqual } from 'node:util';

import type { RouteStatus, SettingsStatus } from '../kubernetes/stored-resources.ts';
import { findCondition, type Condition, type ConditionType } from './condition.ts';

export type Status = RouteStatus | SettingsStatus;

/**
 * What a status tells that another one does not:
 *
 * - `none`: nothing
 * - `detail`: nothing but counters
 * - `provisional`: something, and it waits for the proxies, so that more is to come
 * - `final`: something
 */
export type Difference = 'none' | 'detail' | 'provisional' | 'final';

/** Conditions that are ours; others may have written more. */
const TYPES: readonly ConditionType[] = [
  'Accepted',
  'ResolvedRefs',
  'Programmed',
  'PartiallyInvalid',
];
const WAITING: ReadonlySet<string | undefined> = new Set(['Pending', 'HeldBack', 'NoProxies']);

/**
 * Compares a status with the one that it should be. The order of keys and conditions is no matter,
 * nor since when they are so: that moves with them.
 */
export function compareStatus(current: Status | undefined, wanted: Status): Difference {
  if (current === undefined) return weigh(wanted);
  if (isDeepStrictEqual(comparable(current), comparable(wanted))) return 'none';
  if (isDeepStrictEqual(withoutCounters(current), withoutCounters(wanted))) return 'detail';
  return weigh(wanted);
}

function weigh(wanted: Status): Difference {
  const reason = findCondition(wanted.conditions, 'Programmed')?.reason;
  return WAITING.has(reason) ? 'provisional' : 'final';
}

function comparable({ conditions, ...rest }: Status): object {
  return { ...rest, conditions: TYPES.map((type) => timeless(findCondition(conditions, type))) };
}

/** How many proxies serve what is pending is a counter too. */
function withoutCounters(status: Status): object {
  const { conditions, ...rest } = status;
  const counters = { attachedRoutes: 0, proxies: 0, snapshot: 0 };
  const kept = TYPES.map((type) => withoutCount(findCondition(conditions, type)));
  return { ...rest, ...counters, conditions: kept };
}

function withoutCount(condition: Condition | undefined): object {
  const isCount = condition?.reason === 'Pending';
  return { ...timeless(condition), ...(isCount && { message: '' }) };
}

function timeless(condition: Condition | undefined): object {
  return { ...condition, lastTransitionTime: '' };
}
