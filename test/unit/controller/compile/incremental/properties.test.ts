import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { Changes } from '../../../../../controller/compile/compilation.ts';
import {
  CompilerCluster,
  publicSpec,
  settingsSpec,
  withStatus,
} from '../../../../support/compiler-cluster.ts';

const RUNS = 150;
const NAMES = ['x/a', 'x/b', 'x/c', 'x/d'];
const HOSTS = ['a.example.com', 'b.example.com', 'c.example.com'];

/** Some ask for the same, some are invalid, and some depend on the settings. */
const anySpec = fc
  .record({
    host: fc.constantFrom(...HOSTS),
    prefix: fc.constantFrom('/', '/x', '/.gateway'),
    access: fc.constantFrom<object>(
      { allowPublicUnauthenticatedAccess: true },
      { allowAnyAuthenticatedUser: true },
    ),
    upstream: fc.constantFrom<object>(
      { to: 'http://up' },
      { backendRefs: [{ name: 'files', port: 80 }] },
    ),
  })
  .map(({ host, prefix, access, upstream }) => ({
    from: `https://${host}`,
    prefix,
    ...access,
    ...upstream,
  }));

const anyBadSpec = anySpec.map((spec) => ({ ...spec, prefix: undefined, regex: '(?=a)' }));

type Change =
  | { readonly kind: 'put'; readonly name: string; readonly spec: object }
  | { readonly kind: 'delete'; readonly name: string }
  | { readonly kind: 'settings'; readonly spec: object | null }
  | { readonly kind: 'other'; readonly changes: Changes };

function changesOf(names: readonly string[], spec: fc.Arbitrary<object>): fc.Arbitrary<Change> {
  const name = fc.constantFrom(...names);
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('put' as const), name, spec }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), name }) },
    fc.record({
      kind: fc.constant('settings' as const),
      spec: fc.constantFrom<object | null>(
        null,
        settingsSpec(),
        settingsSpec({ sharedHosts: HOSTS.slice(0, 1) }),
        settingsSpec({ authenticateUrl: 'https://c.example.com' }),
        settingsSpec({ allowedRoutes: { namespaces: { from: 'Same' } } }),
      ),
    }),
    fc.record({
      kind: fc.constant('other' as const),
      changes: fc.constantFrom<Changes>(
        {
          services: new Map([
            ['x/files', { metadata: { name: 'files' }, spec: { ports: [{ port: 80 }] } }],
          ]),
        },
        { services: new Map([['x/files', undefined]]) },
        {
          endpointSlices: new Map([
            [
              'x/slice',
              {
                metadata: { name: 'slice', labels: { 'kubernetes.io/service-name': 'files' } },
                addressType: 'IPv4',
                ports: [{ port: 8000 }],
                endpoints: [{ addresses: ['10.0.0.1'] }],
              },
            ],
          ]),
        },
        { endpointSlices: new Map([['x/slice', undefined]]) },
      ),
    }),
  );
}

/** Makes a change; with `isAnew`, a route is deleted and created again, so that it has no history. */
function make(cluster: CompilerCluster, change: Change, isAnew: boolean): void {
  switch (change.kind) {
    case 'put':
      if (isAnew) cluster.delete(change.name);
      cluster.put({ [change.name]: change.spec });
      break;
    case 'delete':
      cluster.delete(change.name);
      break;
    case 'settings':
      cluster.putSettings(change.spec);
      break;
    case 'other':
      cluster.change(change.changes);
  }
}

/** Keeps routes from serving for a while. Returns what serves afterwards. */
function closeAndOpen(
  cluster: CompilerCluster,
  closing: object | null,
  meanwhile: () => void,
): CompilerCluster['snapshot'] {
  cluster.putSettings(closing);
  meanwhile();
  cluster.putSettings(settingsSpec());
  return new Map(cluster.snapshot);
}

function byName<V>(map: ReadonlyMap<string, V>): readonly (readonly [string, V])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

describe('any sequence of changes', () => {
  test('has the same result as all changes at once if routes have no history', () => {
    fc.assert(
      fc.property(fc.array(changesOf(NAMES, anySpec), { maxLength: 30 }), (changes) => {
        const cluster = new CompilerCluster();
        cluster.update({});
        for (const change of changes) make(cluster, change, true);
        const snapshot = byName(cluster.snapshot);
        const problems = NAMES.map((name) => cluster.reasons(name));
        cluster.takeOver((route) => withStatus(route, undefined));

        expect(byName(cluster.snapshot)).toEqual(snapshot);
        expect(NAMES.map((name) => cluster.reasons(name))).toEqual(problems);
      }),
      { numRuns: RUNS },
    );
  });

  test('is continued by another controller if the settings are unchanged', () => {
    const names = [...NAMES, 'y/a', 'y/b'];
    const change = changesOf(names, anySpec).filter(({ kind }) => kind !== 'settings');
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const cluster = new CompilerCluster();
        cluster.putSettings(settingsSpec());
        for (const one of changes) make(cluster, one, false);
        const snapshot = byName(cluster.snapshot);
        cluster.takeOver();

        expect(byName(cluster.snapshot)).toEqual(snapshot);
      }),
      { numRuns: RUNS },
    );
  });

  test('is continued by another controller that takes over while nothing may serve', () => {
    const names = [...NAMES, 'y/a', 'y/b'];
    const closings = [null, {}, settingsSpec({ allowedRoutes: { namespaces: { from: 'Same' } } })];
    fc.assert(
      fc.property(
        fc.array(changesOf(names, fc.oneof(anySpec, anyBadSpec)), { maxLength: 30 }),
        fc.constantFrom<object | null>(...closings),
        (changes, closing) => {
          const cluster = new CompilerCluster();
          for (const one of changes) make(cluster, one, false);
          cluster.putSettings(settingsSpec());
          const after = byName(closeAndOpen(cluster, closing, () => undefined));

          expect(byName(closeAndOpen(cluster, closing, () => cluster.takeOver()))).toEqual(after);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('lets one namespace serve a host, and the next one only when the first asks for it no longer', () => {
    const change = changesOf(['x/a', 'x/b', 'y/a', 'y/b', 'z/a'], anySpec);
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const cluster = new CompilerCluster();
        cluster.putSettings(settingsSpec());
        for (const one of changes) {
          // Shared hosts have no owner, and a host passes on if no route of its namespace is left.
          if (one.kind === 'settings') continue;
          const before = ownersOf(cluster);
          make(cluster, one, false);
          const after = ownersOf(cluster);
          for (const [host, owners] of after) {
            const [owner] = before.get(host) ?? [];
            const isAsked = owner !== undefined && askersOf(cluster, host).has(owner);

            expect(owners.size).toBe(1);
            expect([...owners]).toEqual(isAsked ? [owner] : [...owners]);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('keeps everything in service if the last update is rejected', () => {
    const bad = fc.constantFrom(
      publicSpec('https://a.example.com', { regex: '(?=a)' }),
      publicSpec('https://b.example.com', { hat: 1 }),
      { from: 'https://c.example.com', to: 'http://up', policy: { deny: { or: [{ x: 1 }] } } },
    );
    const change = changesOf(NAMES, fc.oneof(anySpec, bad)).filter(({ kind }) => kind === 'put');
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 20 }),
        bad,
        fc.constantFrom(...NAMES),
        (changes, spec, name) => {
          const cluster = new CompilerCluster();
          cluster.putSettings(settingsSpec());
          for (const one of changes) make(cluster, one, false);
          const before = byName(cluster.snapshot);
          cluster.put({ [name]: spec });

          // Everything that served before still serves.
          for (const [key, resource] of before)
            expect([key, cluster.snapshot.get(key)]).toEqual([key, resource]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

function ownersOf(cluster: CompilerCluster): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>();
  for (const [name, { host }] of Object.entries(cluster.routes)) {
    const [namespace = ''] = name.split('/');
    owners.set(host, (owners.get(host) ?? new Set()).add(namespace));
  }
  return owners;
}

/** Namespaces of the routes that ask for a host, in their newest generation. */
function askersOf(cluster: CompilerCluster, host: string): ReadonlySet<string> {
  const names = [...cluster.verdicts].filter(([, { resource, isAccepted, problems: problems }]) => {
    const isValid = isAccepted || problems.every(({ reason }) => reason === 'HostConflict');
    return isValid && JSON.stringify(resource.spec).includes(`"https://${host}"`);
  });
  return new Set(names.map(([name]) => name.replace(/\/.*/, '')));
}
