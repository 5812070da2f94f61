import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import { IncrementalCompiler } from '../../../../../controller/compile/incremental-compiler.ts';
import type { RoutingTable } from '../../../../../proxy/configuration/routing-table.ts';
import { snapshotOf } from '../../../../../shared/snapshot/hash-resource.ts';
import type { SnapshotResource } from '../../../../../shared/snapshot/snapshot.ts';
import { buildConfiguration } from '../../../../support/build-configuration.ts';
import { CompilerCluster, publicSpec, settingsSpec } from '../../../../support/compiler-cluster.ts';

const HOUR = 60 * 60 * 1000;
const NOON = Date.parse('2026-11-22T12:00:00Z');
const HOSTS = ['app.x.example.com', '*.x.example.com', '*.example.com', 'app.example.com'];
const NAMES = ['a/1', 'a/2', 'b/1', 'b/2', 'c/1'];

type Change =
  | { readonly kind: 'put'; readonly name: string; readonly from: string }
  | { readonly kind: 'delete'; readonly name: string }
  | { readonly kind: 'wait'; readonly hours: number }
  | { readonly kind: 'release'; readonly host: string }
  | { readonly kind: 'settings'; readonly spec: object };

const kindOf = <K extends string>(kind: K): fc.Arbitrary<K> => fc.constant(kind);
const anyName = fc.constantFrom(...NAMES);
const anyFrom = fc
  .tuple(fc.constantFrom('https://', 'http://'), fc.constantFrom(...HOSTS))
  .map(([scheme, host]) => scheme + host);
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: kindOf('put'), name: anyName, from: anyFrom }),
  },
  { weight: 4, arbitrary: fc.record({ kind: kindOf('delete'), name: anyName }) },
  fc.record({ kind: kindOf('wait'), hours: fc.constantFrom(1, 12, 24) }),
  fc.record({ kind: kindOf('release'), host: fc.constantFrom(...HOSTS) }),
  fc.record({
    kind: kindOf('settings'),
    spec: fc.constantFrom(
      settingsSpec(),
      settingsSpec({ sharedHosts: ['*.example.com'] }),
      settingsSpec({ hostHoldTime: '0s' }),
    ),
  }),
);

function make(cluster: CompilerCluster, change: Change, now: number): number {
  switch (change.kind) {
    case 'put':
      cluster.put({ [change.name]: publicSpec(change.from, { prefix: `/${change.name}` }) });
      return now;
    case 'delete':
      cluster.delete(change.name);
      return now;
    case 'wait': {
      const later = now + change.hours * HOUR;
      cluster.update({ now: later });
      return later;
    }
    case 'release':
      cluster.update({ releasedHosts: [change.host] });
      return now;
    case 'settings':
      cluster.putSettings(change.spec);
      return now;
  }
}

function tableOf(resources: Iterable<SnapshotResource>): RoutingTable {
  return buildConfiguration(snapshotOf(resources)).routes;
}

/** The namespaces of the routes that get the requests for a host. */
function serversOf(table: RoutingTable, host: string, port: number): ReadonlySet<string> {
  const name = host.replace('*', 'any');
  const routes = table.findHost(`${name}:${String(port)}`)?.routes ?? [];
  return new Set(routes.map(({ compiled }) => compiled.name.replace(/\/.*/, '')));
}

test('no namespace but its owner ever serves a held host, and no other name is taken from a wildcard', () => {
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 25 }), (changes) => {
      const cluster = new CompilerCluster({ holdsHosts: true });
      let now = NOON;
      cluster.update({ now });
      cluster.putSettings(settingsSpec());
      for (const change of changes) {
        now = make(cluster, change, now);
        const resources = [...cluster.snapshot.values()];
        const table = tableOf(resources);
        const vacant = [...cluster.hosts].filter(([, owner]) => owner.vacantSince !== undefined);
        for (const [host, { namespace }] of vacant) {
          for (const port of [443, 80]) {
            const others = new Set(serversOf(table, host, port));
            others.delete(namespace);
            expect([host, [...others]]).toEqual([host, []]);
          }
        }
        const held = resources.filter(({ value }) => value.kind === 'held-host');
        for (const { value } of held) {
          if (value.kind !== 'held-host') continue;
          const { host, ports } = value;
          expect(vacant.map(([one]) => one)).toContain(host);
          const without = tableOf(resources.filter((resource) => !held.includes(resource)));
          for (const port of ports) expect(serversOf(without, host, port).size).toBeGreaterThan(0);
        }
      }
    }),
    { numRuns: 150 },
  );
});

test('another controller that has the record publishes the same held hosts', () => {
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 25 }), (changes) => {
      const cluster = new CompilerCluster({ holdsHosts: true });
      let now = NOON;
      cluster.update({ now });
      cluster.putSettings(settingsSpec());
      for (const change of changes) now = make(cluster, change, now);

      const compiler = new IncrementalCompiler({
        ...{ devAllowLoopback: false, gatewayClassName: 'gatehouse', holdsHosts: true },
      });
      const names = [...cluster.verdicts.keys()];
      const routes = new Map(names.map((name) => [name, cluster.stored(name)]));
      const settings = cluster.storedSettings() ?? null;
      const first = compiler.update({ routes, settings, now });
      const adopted = compiler.adopt({ routes, settings, now }, cluster.hosts);
      const snapshot = new Map(first.put.map((resource) => [resource.key, resource]));
      for (const resource of adopted.put) snapshot.set(resource.key, resource);
      for (const key of adopted.deleted) snapshot.delete(key);

      const hashesOf = (of: ReadonlyMap<string, SnapshotResource>): readonly string[] =>
        [...of.values()].map(({ key, hash }) => `${key} ${hash}`).sort();
      expect(hashesOf(snapshot)).toEqual(hashesOf(cluster.snapshot));
    }),
    { numRuns: 150 },
  );
});
