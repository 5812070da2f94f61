import { setTimeout as wait } from 'node:timers/promises';

import { expect } from '@jest/globals';

import { comparePositions, parsePosition } from '../../../shared/snapshot/snapshot-position.ts';
import type { ProxyMember } from './proxy-member.ts';

const PAUSE_MS = 50;
/** Fewer show no step. A watch that is stopped early looks this often before it ends. */
const LEAST_LOOKS = 2;

/** Observations of one proxy. */
interface Observation {
  readonly looks: number;
  /** Steps back, and failed requests. */
  readonly faults: readonly string[];
}

/** Watches the positions of proxies while their processes run. */
export interface PositionWatch extends AsyncDisposable {
  /** Stops, and returns the observations of each. */
  stop(): Promise<readonly Observation[]>;
}

/** Requests `/debug/snapshot` of each of these proxies all the time. */
export function watchPositions(proxies: readonly ProxyMember[]): PositionWatch {
  let isStopped = false;
  const watching = proxies.map(async (proxy): Promise<Observation> => {
    const faults: string[] = [];
    let looks = 0;
    let before: string | undefined;
    while (!isStopped || looks < LEAST_LOOKS) {
      try {
        const { position } = await proxy.served();
        if (isOlder(position, before)) faults.push(`${before ?? ''} to ${position ?? 'nothing'}`);
        before = position;
      } catch (error) {
        faults.push(String(error));
      }
      looks += 1;
      await wait(PAUSE_MS);
    }
    return { looks, faults };
  });
  const stop = async (): Promise<readonly Observation[]> => {
    isStopped = true;
    return Promise.all(watching);
  };
  return {
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}

/** Fails unless every proxy was asked, always answered, and never served an older snapshot than before. */
export function expectNoStepBack(observations: readonly Observation[]): void {
  for (const { looks, faults } of observations) {
    expect(looks).toBeGreaterThanOrEqual(LEAST_LOOKS);
    expect(faults).toEqual([]);
  }
}

function isOlder(position: string | undefined, before: string | undefined): boolean {
  const [is, was] = [parsePosition(position ?? ''), parsePosition(before ?? '')];
  if (was === undefined) return false;
  return is === undefined || comparePositions(is, was) < 0;
}
