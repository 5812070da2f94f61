import { describe, expect, test } from '@jest/globals';

import { publicSpec, startedCluster } from '../../../../support/compiler-cluster.ts';

const ROUTES = 2_000;
const EVIL = 'https://evil.example.com';

function named(
  namespace: string,
  specOf: (index: number) => unknown,
  from = 0,
): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: ROUTES - from }, (_value, index) => [
      `${namespace}/r${String(index + from).padStart(4, '0')}`,
      specOf(index + from),
    ]),
  );
}

describe('many routes', () => {
  // Attack: each fallback makes the next route fall back. One pass over all routes for each would take
  // time that grows with the square of their number. The arbiter's own test counts the work.
  test('that each ask for the path of the one before fall back in one update', () => {
    const cluster = startedCluster();
    cluster.put(named('evil', (index) => publicSpec(EVIL, { prefix: `/p${String(index)}` })));
    cluster.put(
      named('evil', (index) => publicSpec(EVIL, { prefix: `/p${String(index - 1)}` }), 1),
    );

    expect(cluster.compiler.routeCount).toBe(ROUTES);
    expect(cluster.routes['evil/r0001']?.path.value).toBe('/p1');
    expect(cluster.routes['evil/r1999']?.path.value).toBe('/p1999');

    // The first route moves away, and all others move up by one.
    cluster.put({ 'evil/r0000': publicSpec('https://other.example.com') });

    expect(cluster.routes['evil/r0001']?.path.value).toBe('/p0');
    expect(cluster.routes['evil/r1999']?.path.value).toBe('/p1998');
  });

  test('that are rejected do not change with the routes that hold their hosts', () => {
    const cluster = startedCluster();
    const hostOf = (index: number): string => `https://h${String(index)}.example.com`;
    cluster.put(named('team', (index) => publicSpec(hostOf(index))));
    cluster.put(named('evil', (index) => publicSpec(EVIL, { prefix: `/p${String(index)}` })));
    cluster.put(named('evil', (index) => publicSpec(hostOf(index))));
    const { routes } = cluster.put({ 'team/r0007': publicSpec(hostOf(7), { prefix: '/new' }) });

    expect([...routes.keys()]).toEqual(['team/r0007']);
    expect(cluster.compiler.routeCount).toBe(2 * ROUTES);
  });
});
