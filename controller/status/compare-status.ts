import { isDeepStrictEqual } from 'node:util';

import type { RouteStatus, SettingsStatus } from '../kubernetes/stored-resources.ts';
import { findCondition, type Condition, type ConditionType } from './condition.ts';

/** The status of a Route or of GatewaySettings. */
export type Status = RouteStatus | SettingsStatus;

/**
 * How much a wanted status differs from the current one:
 *
 * - `none`: not at all
 * - `detail`: in counters only
 * - `provisional`: in more, and it will change again when the proxies respond or publication resumes
 * - `final`: in more
 */
export type Difference = 'none' | 'detail' | 'provisional' | 'final';

/** The conditions of this gateway; other controllers may add more. */
const TYPES: readonly ConditionType[] = [
  'Accepted',
  'ResolvedRefs',
  'Programmed',
  'UpstreamAuthReady',
  'CertificatesValid',
  'PartiallyInvalid',
  'PartiallyInspected',
  'ConsentExposed',
];
const WAITING: ReadonlySet<string | undefined> = new Set(['Pending', 'HeldBack', 'NoProxies']);

/**
 * Compares a status with the wanted one. The order of keys and conditions does not matter, nor do
 * transition times: they move with the conditions.
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

/** The message of a pending condition counts proxies, so it is a counter too. */
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
