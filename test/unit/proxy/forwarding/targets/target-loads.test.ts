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

function endpointsNamed(...names: readonly string[]): readonly Target[] {
  return names.map((name) => ({ origin: `http://${name}`, rank: rankOf(name) }));
}

function visit(choice: TargetChoice): TargetVisit {
  return new TargetVisit(choice, loads);
}

const THREE = endpointsNamed('a', 'b', 'c');

/** Where so many requests without a caller go, each before the others end. */
function spread(count: number, endpoints = THREE): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let index = 0; index < count; index += 1) {
    const { origin } = visit({ targets: endpoints, callerRank: undefined });
    counts[origin] = (counts[origin] ?? 0) + 1;
  }
  return counts;
}

function endpointOf(caller: string, endpoints = THREE): string {
  return visit({ targets: endpoints, callerRank: rankOf(caller) }).origin;
}

const CALLERS = Array.from({ length: 300 }, (_none, index) => `user ${String(index)}`);

describe('requests to several endpoints', () => {
  test('go to the one of two with fewer requests under way', () => {
    const [a, b] = THREE;
    if (a === undefined || b === undefined) throw new Error('two endpoints');
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

  test('count once, however often they end', () => {
    const endpoints = endpointsNamed('a', 'b');
    const first = visit({ targets: endpoints.slice(0, 1), callerRank: undefined });
    const second = visit({ targets: endpoints.slice(0, 1), callerRank: undefined });
    first.leave();
    first.leave();
    expect(spread(1, endpoints)).toEqual({ 'http://b': 1 });
    second.leave();
  });
});

describe('the requests of one caller', () => {
  test('go to one endpoint, on every proxy', () => {
    const peer = new TargetLoads();
    for (const caller of CALLERS) {
      const origin = endpointOf(caller);
      expect(endpointOf(caller)).toBe(origin);
      expect(new TargetVisit({ targets: THREE, callerRank: rankOf(caller) }, peer).origin).toBe(
        origin,
      );
    }
  });

  test('are spread over the endpoints by caller', () => {
    const counts = new Map<string, number>();
    for (const caller of CALLERS) {
      const origin = endpointOf(caller);
      counts.set(origin, (counts.get(origin) ?? 0) + 1);
    }
    // The callers are the same every time, and so are these numbers.
    for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(25);
  });

  test('stay where they are when another endpoint goes', () => {
    const two = endpointsNamed('a', 'c');
    const elsewhere = CALLERS.filter((caller) => endpointOf(caller) !== 'http://b');
    const before = elsewhere.map((caller) => endpointOf(caller));
    expect(elsewhere.map((caller) => endpointOf(caller, two))).toEqual(before);
  });
});

describe('an endpoint that takes no connection', () => {
  test('is left for another one, once', () => {
    const visited = visit({ targets: THREE, callerRank: undefined });
    const first = visited.origin;
    expect(visited.moveOn()).toBe(true);
    const second = visited.origin;
    expect(second).not.toBe(first);
    expect(visited.moveOn()).toBe(false);
    expect(visited.origin).toBe(second);
  });

  test('has nowhere to go to when it is the only one', () => {
    const visited = visit({ targets: endpointsNamed('a'), callerRank: undefined });
    expect(visited.moveOn()).toBe(false);
  });

  test('gets no requests for five seconds, and then again', () => {
    const [first] = THREE;
    if (first === undefined) throw new Error('an endpoint');
    loads.avoid(first);
    now = 4_999;
    expect(spread(100)['http://a']).toBeUndefined();
    now = 5_000;
    expect(spread(100)['http://a']).toBeGreaterThan(0);
  });

  test('is not avoided when all of them are', () => {
    for (const endpoint of THREE) loads.avoid(endpoint);
    expect(Object.keys(spread(300)).sort()).toEqual(['http://a', 'http://b', 'http://c']);
  });

  test('gets no request of a visit that is over', () => {
    const visited = visit({ targets: THREE, callerRank: undefined });
    visited.leave();
    expect(visited.moveOn()).toBe(false);
  });
});
