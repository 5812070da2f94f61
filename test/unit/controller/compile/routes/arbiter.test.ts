import { describe, expect, test } from '@jest/globals';

import { made } from '../../../../../controller/compile/compile-result.ts';
import { compileRoute } from '../../../../../controller/compile/compile-route.ts';
import type { RouteContext } from '../../../../../controller/compile/route-context.ts';
import { Arbiter } from '../../../../../controller/compile/routes/arbiter.ts';
import { RouteEntry } from '../../../../../controller/compile/routes/route-entry.ts';
import { RouteGeneration } from '../../../../../controller/compile/routes/route-generation.ts';
import type { Route } from '../../../../../crds/types.ts';
import { publicSpec } from '../../../../support/compiler-cluster.ts';
import { aRoute } from '../../../../support/resources.ts';

const ROUTES = 2_000;
const HOST = 'https://evil.example.com';
const CONTEXT: RouteContext = {
  devAllowLoopback: false,
  authenticateAddress: undefined,
  signIn: { kind: 'available' },
  identityProviders: [],
  bearerTokenFormat: 'default',
  hasAllowedAudiences: false,
  missingSettings: undefined,
  mcpClientNamespaces: [],
  hostRules: [],
  asMetadataDomains: [],
  hasServices: true,
};

/** An arbiter that counts how often it looks up the owner of a host, which every decision does. */
class CountedArbiter {
  lookups = 0;
  readonly arbiter = new Arbiter(() => {
    this.lookups += 1;
    return undefined;
  });

  /** Counts the lookups of a change. */
  count(change: () => void): number {
    const before = this.lookups;
    change();
    return this.lookups - before;
  }
}

function generationOf(route: Route): RouteGeneration {
  const compile = (valid: Route): ReturnType<typeof compileRoute> => compileRoute(valid, CONTEXT);
  return new RouteGeneration({ number: 1, spec: route.spec }, made(route), compile);
}

function routeAt(index: number, from: string, prefix: string): Route {
  const name = `r${String(index).padStart(4, '0')}`;
  return aRoute(publicSpec(from, { prefix }), { name, namespace: 'evil' });
}

function entryOf(route: Route): RouteEntry {
  return new RouteEntry({
    resource: route,
    newest: generationOf(route),
    accepted: undefined,
    servedHost: undefined,
    isAdmitted: true,
  });
}

function decidedEntries(arbiter: Arbiter, routes: readonly Route[]): readonly RouteEntry[] {
  const entries = routes.map(entryOf);
  for (const entry of entries) arbiter.index(entry);
  arbiter.decide(entries);
  return entries;
}

function change(arbiter: Arbiter, entry: RouteEntry, route: Route): void {
  entry.beginGeneration(route, generationOf(route));
  arbiter.index(entry);
}

describe('an arbiter of many routes', () => {
  const indexes = Array.from({ length: ROUTES }, (_value, index) => index);

  // Attack: each fallback makes the next route fall back. Deciding all routes after each takes time
  // that grows with the square of their number, and every other change waits.
  test('decides each route a bounded number of times if each asks for the path of the one before', () => {
    const counted = new CountedArbiter();
    const { arbiter } = counted;
    const pathOf = (index: number): string => `/p${String(index)}`;
    const entries = decidedEntries(
      arbiter,
      indexes.map((index) => routeAt(index, HOST, pathOf(index))),
    );
    const lookups = counted.count(() => {
      const [, ...changed] = entries;
      for (const [index, entry] of changed.entries()) {
        change(arbiter, entry, routeAt(index + 1, HOST, pathOf(index)));
      }
      arbiter.decide(changed);
    });

    expect(lookups).toBeLessThan(20 * ROUTES);
    expect(entries.at(-1)?.serving?.compiled?.path.value).toBe(pathOf(ROUTES - 1));
  });

  test('decides only the changed route if the others ask for other paths', () => {
    const counted = new CountedArbiter();
    const { arbiter } = counted;
    const hostOf = (index: number): string => `https://h${String(index)}.example.com`;
    const entries = decidedEntries(
      arbiter,
      indexes.map((index) => routeAt(index, hostOf(index), '/')),
    );
    const [first] = entries;
    if (first === undefined) throw new Error('there is no route');
    const lookups = counted.count(() => {
      change(arbiter, first, routeAt(0, hostOf(0), '/new'));
      arbiter.decide([first]);
    });

    expect(lookups).toBeLessThan(10);
    expect(first.serving?.compiled?.path.value).toBe('/new');
  });
});
