import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { RoutingTable } from '../../../../proxy/configuration/routing-table.ts';
import { changesBetween } from '../../../../proxy/configuration/snapshot-changes.ts';
import type { Snapshot } from '../../../../shared/snapshot/snapshot.ts';
import { buildConfiguration, nextConfiguration } from '../../../support/build-configuration.ts';
import { aCompiledRoute, aHeldHost, aSnapshot } from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';

const SETTINGS = compiledSettings();
const HOSTS = ['a.x.example.com', 'b.x.example.com', '*.x.example.com', '*.example.com'];
const PORTS = [443, 80];
const ROUTES = HOSTS.flatMap((host) =>
  PORTS.map((port) => aCompiledRoute({ name: `n/${host}-${String(port)}`, host, port })),
);
const NAMES = [
  'a.x.example.com',
  'b.x.example.com',
  'c.x.example.com',
  'x.example.com',
  'example.com',
];
const AUTHORITIES = NAMES.flatMap((name) => [name, `${name}:443`, `${name}:80`]);

const anyHeld = fc
  .tuple(...HOSTS.map((host) => fc.record({ host: fc.constant(host), ports: fc.subarray(PORTS) })))
  .map((hosts) => hosts.filter(({ ports }) => ports.length > 0));
const anySnapshot = fc
  .tuple(fc.subarray(ROUTES), anyHeld)
  .map(([routes, held]) =>
    aSnapshot(SETTINGS, ...routes, ...held.map(({ host, ports }) => aHeldHost(host, ports))),
  );

/** The key of the route that serves, as the definition of held hosts has it. */
function servedBy(snapshot: Snapshot, name: string, port: number): string | undefined {
  const patterns = [name, ...wildcardsAbove(name)];
  for (const pattern of patterns) {
    const key = `route/n/${pattern}-${String(port)}`;
    if (snapshot.resources.has(key)) return key;
    const held = snapshot.resources.get(`held-host/${pattern}`)?.value;
    if (held?.kind === 'held-host' && held.ports.includes(port)) return undefined;
  }
  return undefined;
}

function wildcardsAbove(name: string): readonly string[] {
  const labels = name.split('.').slice(1);
  return labels.map((_label, index) => `*.${labels.slice(index).join('.')}`);
}

function found(routes: RoutingTable, authority: string): string | undefined {
  const name = routes.findHost(authority)?.routes[0]?.compiled.name;
  return name === undefined ? undefined : `route/${name}`;
}

test('a held host is served by routes of exactly that host only, whatever came before', () => {
  fc.assert(
    fc.property(fc.array(anySnapshot, { minLength: 1, maxLength: 6 }), (snapshots) => {
      let configuration = buildConfiguration(aSnapshot(SETTINGS));
      let before = aSnapshot(SETTINGS);
      for (const snapshot of snapshots) {
        configuration = nextConfiguration(
          configuration,
          snapshot,
          changesBetween(before, snapshot),
        );
        before = snapshot;
      }
      for (const authority of AUTHORITIES) {
        const [name = '', port] = authority.split(':');
        const ports = port === undefined ? PORTS : [Number(port)];
        const expected = ports.flatMap((one) => servedBy(before, name, one) ?? [])[0];
        expect([authority, found(configuration.routes, authority)]).toEqual([authority, expected]);
      }
    }),
    { numRuns: 300 },
  );
});

test('a change of held hosts alone makes a new table, and leaves the one before as it is', () => {
  const wildcard = aCompiledRoute({ host: '*.example.com' });
  const [one, two] = [aSnapshot(SETTINGS, wildcard), aSnapshot(SETTINGS, wildcard, aHeldHost())];
  const before = buildConfiguration(one);
  const after = nextConfiguration(before, two, changesBetween(one, two));
  expect(before.routes.findHost('app.example.com')).toBeDefined();
  expect(after.routes.findHost('app.example.com')).toBeUndefined();
  expect(after.routes.findHost('other.example.com')).toBe(
    before.routes.findHost('other.example.com'),
  );
});
