import type { RouteVerdict } from '../compile/compilation.ts';
import type { UpstreamAuthState } from '../push/publication.ts';
import { findCondition, type Condition, type ConditionState } from './condition.ts';
import { clip } from '../../shared/runtime/clip.ts';

/** What is known of the upstream of a route, besides its verdict. */
export interface UpstreamAuthKnowledge {
  /** What a proxy found out last; undefined if no proxy said anything. */
  readonly found: UpstreamAuthState | undefined;
  /**
   * When its configuration changed, in milliseconds since 1970: what was found out before does not count.
   * Undefined if it has not changed since the stored status.
   */
  readonly since: number | undefined;
}

const SECOND = 1000;
const MAX_LENGTH = 1024;
const UNLISTED = { status: 'False', reason: 'UpstreamNotListed' } as const;
const PREFIX = 'upstream-auth-';

const NOT_TRIED: ConditionState = {
  status: 'Unknown',
  reason: 'NotTried',
  message: 'Nobody has connected yet, so that it is unknown whether it works.',
};

const READY: ConditionState = {
  status: 'True',
  reason: 'Ready',
  message: 'The gateway is a client of the authorization server, so that users can connect.',
};

/**
 * The state of condition `UpstreamAuthReady`: whether users can connect to the upstream. Undefined for routes
 * whose users do not. It is unknown until a proxy has tried, and then stays until a proxy finds out another,
 * or the configuration changes, whatever leader there is.
 */
export function upstreamAuthState(
  { upstreamAuth }: Pick<RouteVerdict, 'upstreamAuth'>,
  { found, since }: UpstreamAuthKnowledge,
  conditions: readonly Condition[] | undefined,
): ConditionState | undefined {
  if (upstreamAuth === undefined) return undefined;
  if (upstreamAuth.unlistedHost !== undefined) return unlisted(upstreamAuth.unlistedHost);
  const before = knownBefore(findCondition(conditions, 'UpstreamAuthReady'), since);
  if (found !== undefined && isNews(found, since, before)) return stateOf(found);
  if (before === undefined) return NOT_TRIED;
  const { status, reason, message } = before;
  return { status, reason, message };
}

function unlisted(host: string): ConditionState {
  const message = `Nobody can connect: mcpAllowedAsMetadataDomains of the settings does not list ${host}.`;
  return { ...UNLISTED, message };
}

/** The stored condition, if it still holds. */
function knownBefore(
  stored: Condition | undefined,
  since: number | undefined,
): Condition | undefined {
  if (stored === undefined || stored.reason === UNLISTED.reason) return undefined;
  // Transition times are whole seconds.
  const isOlder = since !== undefined && timeOf(stored) < since - (since % SECOND);
  return isOlder ? undefined : stored;
}

/**
 * Whether a report says more than the stored condition. After a change of leaders, each proxy repeats what it
 * found out last, which may be older.
 */
function isNews(
  { at, failure }: UpstreamAuthState,
  since: number | undefined,
  before: Condition | undefined,
): boolean {
  if (since !== undefined && at < since) return false;
  const status = failure === undefined ? 'True' : 'False';
  return before === undefined || before.status === status || at >= timeOf(before);
}

function timeOf({ lastTransitionTime }: Condition): number {
  return Date.parse(lastTransitionTime);
}

function stateOf({ failure }: UpstreamAuthState): ConditionState {
  if (failure === undefined) return READY;
  const { reason, message } = failure;
  return { status: 'False', reason: inCamelCase(reason), message: clip(message, MAX_LENGTH) };
}

/** `upstream-auth-domain-not-allowed` is `DomainNotAllowed`. */
function inCamelCase(reason: string): string {
  const words = (reason.startsWith(PREFIX) ? reason.slice(PREFIX.length) : reason).split('-');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
