import type { CompiledSettings } from '../../shared/snapshot/snapshot.ts';
import type { Session } from '../records/session.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** What an external token has left when a backend gets it: it may hand the token to a service that takes time. */
const LEAST_LEFT_MS = 10 * MINUTE;

/** Long enough that one token serves the requests of some minutes. */
const SHORTEST_LIFETIME_MS = 15 * MINUTE;

/** How far apart the clocks of proxies may be. */
const CLOCK_SKEW_MS = 10 * MINUTE;

/** When an external token of an application ends. Milliseconds since the epoch. */
export interface ApplicationTokenTimes {
  readonly expiresAt: number;
  /** Until when it is handed out. */
  readonly usableUntil: number;
}

/** Returns the times of a token that ends with its session, if that leaves enough; undefined if it does not. */
export function timesWithin(
  { expiresAt }: Session,
  { tokens: { externalTokenSeconds } }: Pick<CompiledSettings, 'tokens'>,
  now: number,
): ApplicationTokenTimes | undefined {
  if (expiresAt - now < LEAST_LEFT_MS) return undefined;
  const lifetime = Math.max(externalTokenSeconds * SECOND, SHORTEST_LIFETIME_MS);
  return timesUntil(Math.min(now + lifetime, expiresAt));
}

/** Returns the times of a token that outlives its session. */
export function timesBeyondSession(now: number): ApplicationTokenTimes {
  return timesUntil(now + SHORTEST_LIFETIME_MS);
}

/** Returns the times of a token for what is left of a session that is too short for any promise. */
export function timesOfRest({ expiresAt }: Session, now: number): ApplicationTokenTimes {
  return { expiresAt, usableUntil: now + (expiresAt - now) / 2 };
}

/**
 * Returns whether a session ends so soon that its user must sign in again before a backend gets a token. Never true
 * in the first half of a session: that would be a loop.
 */
export function isNearEnd({ createdAt, expiresAt }: Session, now: number): boolean {
  return expiresAt - now < Math.min(LEAST_LEFT_MS, (expiresAt - createdAt) / 2);
}

/** Returns for how long the tokens that were made in a session can count. */
export function secondsOfTokensOf({ expiresAt }: Session, now: number): number {
  const longest = Math.max(expiresAt - now, SHORTEST_LIFETIME_MS) + CLOCK_SKEW_MS;
  return Math.ceil(longest / SECOND);
}

function timesUntil(expiresAt: number): ApplicationTokenTimes {
  return { expiresAt, usableUntil: expiresAt - LEAST_LEFT_MS };
}
