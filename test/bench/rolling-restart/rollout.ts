import type { LiveSession } from '../../support/node/live-session.ts';
import type { Traffic } from '../../support/node/traffic.ts';

const SECOND = 1000;

/** The replacement of all proxies, and what their clients noticed. */
export interface Rollout {
  readonly title: string;
  readonly seconds: number;
  readonly requests: number;
  readonly failures: readonly string[];
}

/** What the sessions noticed of all rollouts together. */
export interface SessionLosses {
  readonly sessions: number;
  readonly lost: number;
  readonly missedEvents: number;
}

/** Measures what clients notice while `replace` replaces all proxies. */
export async function measureRollout(
  title: string,
  traffic: Traffic,
  replace: () => Promise<void>,
): Promise<Rollout> {
  const { requests, failures } = traffic;
  const before = failures.length;
  const began = performance.now();
  await replace();
  return {
    title,
    seconds: (performance.now() - began) / SECOND,
    requests: traffic.requests - requests,
    failures: traffic.failures.slice(before),
  };
}

/** Counts the sessions that cannot be used any more, and the events that the others missed. */
export async function countLosses(
  sessions: readonly LiveSession[],
  lastEvent: number,
): Promise<SessionLosses> {
  let lost = 0;
  let missedEvents = 0;
  for (const session of sessions) {
    try {
      await session.callTool();
      missedEvents += (await session.missedUpTo(lastEvent)).length;
    } catch {
      lost += 1;
    }
  }
  return { sessions: sessions.length, lost, missedEvents };
}
