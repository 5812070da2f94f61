import type { Problem } from '../../../../controller/validate/problem.ts';
import type { RouteStatus } from '../../../../controller/kubernetes/stored-resources.ts';
import type { RolloutState } from '../../../../controller/push/publication.ts';
import { routeStatus, type RouteStatusInput } from '../../../../controller/status/route-status.ts';
import { routeVerdict } from '../../../support/verdicts.ts';

const EARLY = new Date('2026-11-21T10:00:00.123Z');
export const LATE = new Date('2026-11-21T11:00:00Z');
const PROGRAMMED: RolloutState = { kind: 'programmed' };
export const PENDING = {
  kind: 'pending',
  acknowledged: 2,
  proxies: 3,
} as const satisfies RolloutState;
export const REJECTED: RolloutState = { kind: 'rejected', proxy: 'proxy-0', message: 'bad host' };
export const NO_PROXIES: RolloutState = { kind: 'no-proxies' };

export const INVALID_POLICY: Problem = {
  path: 'spec.policy.allow.or[0]',
  reason: 'InvalidPolicy',
  message: 'unknown criterion "emial"',
};
export const NOT_ALLOWED: Problem = {
  path: 'metadata.namespace',
  reason: 'NotAllowedByGateway',
  message: 'the gateway does not admit routes of namespace team-a',
};
export const SECRET_NOT_FOUND: Problem = {
  path: 'spec.upstreamOauth2.clientSecretRef',
  reason: 'SecretNotFound',
  message: 'Secret team-a/oauth does not exist',
};

/** The status of a Route that every proxy serves, except for the given input. */
export function statusOf(input: Partial<RouteStatusInput>): RouteStatus {
  return routeStatus({
    verdict: routeVerdict(),
    gatewayClass: 'gatehouse',
    rollout: PROGRAMMED,
    obstacle: undefined,
    upstreamAuth: { found: undefined, since: undefined },
    current: undefined,
    now: EARLY,
    ...input,
  });
}

/** Status and reason of each condition, by type. */
export function conditionsOf(status: RouteStatus): Readonly<Record<string, readonly string[]>> {
  const conditions = status.conditions ?? [];
  return Object.fromEntries(
    conditions.map(({ type, status, reason }) => [type, [status, reason]] as const),
  );
}

/** The message of a condition. */
export function messageOf(status: RouteStatus, type: string): string {
  return status.conditions?.find((condition) => condition.type === type)?.message ?? '';
}

/** The status of a Route that every proxy serves. */
export const programmedBefore = statusOf({});
