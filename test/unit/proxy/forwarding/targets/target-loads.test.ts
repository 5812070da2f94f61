import { beforeEach, describe, expect, test } from '@jest/globals';

import { TargetLoads } from '../../../../../proxy/forwarding/targets/target-loads.ts';
import { TargetVisit } from '../../../../../proxy/forwarding/targets/target-visit.ts';
import type { Target, TargetChoice } from '../../../../../proxy/forwarding/targets/target.ts';
import { rankOf } from '../../../../../proxy/forwarding/targets/rank.ts';

let now = 0;
let loads: TargetLoads;

beforeEach(() => {
  now = 0;
  loads = new TargetLoads({ now: () => now });
});

function targetsNamed(...names: readonly string[]): readonly Target[] {
  return names.map((name) => ({ origin: `http://${name}`, rank: rankOf(name) }));
}

function visit(choice: TargetChoice): TargetVisit {
  return new TargetVisit(choice, loads);
}

const THREE = targetsNamed('a', 'b', 'c');

/** Where so many requests without a caller go, each before the others end. */
function spread(count: number, targets = THREE): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let index = 0; index < count; index += 1) {
    const { origin } = visit({ targets, callerRank: undefined });
    counts[origin] = (counts[origin] ?? 0) + 1;
  }
  return counts;
}

function targetOf(caller: string, targets = THREE): string {
  return visit({ targets, callerRank: rankOf(caller) }).origin;
}

const CALLERS = Array.from({ length: 300 }, (_none, index) => `user ${String(index)}`);

describe('requests to several targets', () => {
  test('go to the one of two targets with fewer current requests', () => {
    const [a, b] = THREE;
    if (a === undefined || b === undefined) throw new Error('two targets');
    loads.enter({ targets: [a], callerRank: undefined });
    for (let index = 0; index < 20; index += 1) {
      const visited = visit({ targets: [a, b], callerRank: undefined });
      expect(visited.origin).toBe('http://b');
      visited.leave();
    }
  });

  test('are spread nearly evenly', () => {
    for (const count of Object.values(spread(300))) expect(Math.abs(count - 100)).toBeLessThan(10);
  });

  test('are counted once, even if they end twice', () => {
    const targets = targetsNamed('a', 'b');
    const first = visit({ targets: targets.slice(0, 1), callerRank: undefined });
    const second = visit({ targets: targets.slice(0, 1), callerRank: undefined });
    first.leave();
    first.leave();
    expect(spread(1, targets)).toEqual({ 'http://b': 1 });
    second.leave();
  });
});

describe('the requests of one caller', () => {
  test('go to one target, on every proxy', () => {
    const peer = new TargetLoads();
    for (const caller of CALLERS) {
      const origin = targetOf(caller);
      expect(targetOf(caller)).toBe(origin);
      expect(new TargetVisit({ targets: THREE, callerRank: rankOf(caller) }, peer).origin).toBe(
        origin,
      );
    }
  });

  test('are spread over the targets by caller', () => {
    const counts = new Map<string, number>();
    for (const caller of CALLERS) {
      const origin = targetOf(caller);
      counts.set(origin, (counts.get(origin) ?? 0) + 1);
    }
    // The callers are the same every time, and so are these numbers.
    for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(25);
  });

  test('stay at their target when a different target goes', () => {
    const two = targetsNamed('a', 'c');
    const elsewhere = CALLERS.filter((caller) => targetOf(caller) !== 'http://b');
    const before = elsewhere.map((caller) => targetOf(caller));
    expect(elsewhere.map((caller) => targetOf(caller, two))).toEqual(before);
  });
});

describe('a target that accepts no connection', () => {
  test('is replaced by another target, once', () => {
    const visited = visit({ targets: THREE, callerRank: undefined });
    const first = visited.origin;
    expect(visited.moveOn()).toBe(true);
    const second = visited.origin;
    expect(second).not.toBe(first);
    expect(visited.moveOn()).toBe(false);
    expect(visited.origin).toBe(second);
  });

  test('is not replaced if it is the only one', () => {
    const visited = visit({ targets: targetsNamed('a'), callerRank: undefined });
    expect(visited.moveOn()).toBe(false);
  });

  test('gets no requests for five seconds, and gets requests after that', () => {
    const [first] = THREE;
    if (first === undefined) throw new Error('a target');
    loads.avoid(first);
    now = 4_999;
    expect(spread(100)['http://a']).toBeUndefined();
    now = 5_000;
    expect(spread(100)['http://a']).toBeGreaterThan(0);
  });

  test('is not avoided if all targets are', () => {
    for (const target of THREE) loads.avoid(target);
    expect(Object.keys(spread(300)).sort()).toEqual(['http://a', 'http://b', 'http://c']);
  });

  test('is not replaced after the end of a visit', () => {
    const visited = visit({ targets: THREE, callerRank: undefined });
    visited.leave();
    expect(visited.moveOn()).toBe(false);
  });
});
