import { describe, expect, test } from '@jest/globals';

import { CompilerCluster, publicSpec, settingsSpec } from '../../../../support/compiler-cluster.ts';

const APP = 'https://app.example.com';
const WILDCARD = 'https://*.example.com';
const HELD = 'held-host/app.example.com';
const HOUR = 60 * 60 * 1000;
const NOON = Date.parse('2026-11-22T12:00:00Z');

/** A cluster at noon, in which namespace a serves a host, and namespace b the wildcard above it. */
function covered(settings: object = {}, wildcard: object = {}): CompilerCluster {
  const cluster = new CompilerCluster({ holdsHosts: true });
  cluster.update({ now: NOON });
  cluster.putSettings(settingsSpec(settings));
  cluster.put({ 'a/app': publicSpec(APP), 'b/all': publicSpec(WILDCARD, wildcard) });
  return cluster;
}

function heldIn(cluster: CompilerCluster): readonly string[] {
  return [...cluster.snapshot.keys()].filter((key) => key.startsWith('held-host/')).sort();
}

describe('a held host below a wildcard of another namespace', () => {
  // Attack: the wildcard would get the users of a Route that is replaced, with their cookies.
  test('is published as held by the change that removes its last route', () => {
    const cluster = covered();
    expect(heldIn(cluster)).toEqual([]);
    const { put, deleted } = cluster.delete('a/app');

    expect(deleted).toEqual(['route/a/app']);
    expect(put.map(({ key, value }) => ({ key, value }))).toEqual([
      { key: HELD, value: { kind: 'held-host', host: 'app.example.com', ports: [443] } },
    ]);
  });

  test('is no longer published as held by the change that brings a route of its owner back', () => {
    const cluster = covered();
    cluster.delete('a/app');
    const { put, deleted } = cluster.put({ 'a/app': publicSpec(APP) });

    expect(put.map(({ key }) => key)).toEqual(['route/a/app']);
    expect(deleted).toEqual([HELD]);
  });

  test('stays held if the route comes back invalid', () => {
    const cluster = covered();
    cluster.delete('a/app');
    cluster.put({ 'a/app': publicSpec(APP, { hat: 1 }) });

    expect(heldIn(cluster)).toEqual([HELD]);
  });

  test('is held from a wildcard that comes later, in the same change, and only while it is there', () => {
    const cluster = covered();
    cluster.delete('b/all');
    cluster.delete('a/app');
    expect(heldIn(cluster)).toEqual([]);

    const { put } = cluster.put({ 'b/all': publicSpec(WILDCARD) });
    expect(put.map(({ key }) => key).sort()).toEqual([HELD, 'route/b/all']);
    const { deleted } = cluster.delete('b/all');
    expect([...deleted].sort()).toEqual([HELD, 'route/b/all']);
  });

  test.each([
    { how: 'its time is over', end: (cluster) => cluster.update({ now: NOON + 24 * HOUR }) },
    {
      how: 'an operator releases it',
      end: (cluster) => cluster.update({ releasedHosts: ['app.example.com'] }),
    },
    {
      how: 'its namespace is deleted',
      end: (cluster) => cluster.update({ endedNamespaces: new Set(['a']) }),
    },
    {
      how: 'the settings share it',
      end: (cluster) => cluster.putSettings(settingsSpec({ sharedHosts: ['app.example.com'] })),
    },
    {
      how: 'the settings turn holds off',
      end: (cluster) => cluster.putSettings(settingsSpec({ hostHoldTime: '0s' })),
    },
  ] satisfies readonly { how: string; end: (cluster: CompilerCluster) => unknown }[])(
    'goes to the wildcard when $how',
    ({ end }) => {
      const cluster = covered();
      cluster.delete('a/app');
      expect(heldIn(cluster)).toEqual([HELD]);
      end(cluster);
      expect(heldIn(cluster)).toEqual([]);
    },
  );

  test('is held on each port of such a wildcard', () => {
    const cluster = covered();
    const ports = [80, 8443].map((port) => [
      `b/all-${String(port)}`,
      publicSpec(`http://*.example.com:${String(port)}`),
    ]);
    cluster.put(Object.fromEntries(ports) as Record<string, unknown>);
    cluster.delete('a/app');

    expect(cluster.snapshot.get(HELD)?.value).toMatchObject({ ports: [80, 443, 8443] });
    const { put } = cluster.delete('b/all-80');
    expect(put.map(({ value }) => value)).toMatchObject([{ ports: [443, 8443] }]);
  });

  test('is held while its namespace is not admitted, although nobody waits for the host', () => {
    const selector = { matchLabels: { gateway: 'yes' } };
    const allowedRoutes = { namespaces: { from: 'Selector', selector } };
    const cluster = new CompilerCluster({ holdsHosts: true });
    const label = (gateway: string): void => {
      const labels = [
        ['a', { gateway }],
        ['b', { gateway: 'yes' }],
      ] as const;
      cluster.change({ namespaces: new Map(labels) });
    };
    cluster.update({ now: NOON });
    cluster.putSettings(settingsSpec({ allowedRoutes }));
    label('yes');
    cluster.put({ 'a/app': publicSpec(APP), 'b/all': publicSpec(WILDCARD) });
    label('no');
    expect(heldIn(cluster)).toEqual([HELD]);
    label('yes');
    expect(heldIn(cluster)).toEqual([]);
  });

  test('is held while only the settings keep the routes of its owner from serving', () => {
    const cluster = covered();
    cluster.put({ 'a/app': { from: APP, to: 'http://up:8080', allowAnyAuthenticatedUser: true } });
    expect(heldIn(cluster)).toEqual([]);
    cluster.putSettings(settingsSpec({ identityProviders: [] }));
    expect(cluster.reasons('a/app')).toContain('IdentityProviderNotFound');
    expect(heldIn(cluster)).toEqual([HELD]);
  });

  test('may be a wildcard itself', () => {
    const cluster = covered();
    cluster.put({ 'a/inner': publicSpec('https://*.app.example.com') });
    cluster.delete('a/inner');
    expect(heldIn(cluster)).toEqual(['held-host/*.app.example.com']);
  });

  test('is found by the next leader in the record', () => {
    const cluster = covered();
    cluster.delete('a/app');
    const routes = new Map([['b/all', cluster.stored('b/all')]]);
    const settings = cluster.storedSettings() ?? null;
    const { hosts } = cluster;
    const next = new CompilerCluster({ holdsHosts: true });
    next.update({ routes, settings, now: NOON + HOUR });
    const { put } = next.compiler.adopt({ routes, settings, now: NOON + HOUR }, hosts);
    expect(put.map(({ key }) => key)).toEqual([HELD]);
  });
});

describe('a held host is served by a wildcard', () => {
  test('of its own namespace', () => {
    const cluster = covered();
    cluster.delete('b/all');
    cluster.put({ 'a/all': publicSpec(WILDCARD) });
    cluster.delete('a/app');
    expect(heldIn(cluster)).toEqual([]);
  });

  test('of its own namespace that is longer than one of another namespace', () => {
    const cluster = covered();
    const spec = publicSpec('https://one.team.example.com');
    cluster.put({ 'a/team': publicSpec('https://*.team.example.com'), 'a/one': spec });
    cluster.delete('a/one');
    expect(heldIn(cluster)).toEqual([]);
    cluster.delete('a/team');
    expect(heldIn(cluster)).toEqual([
      'held-host/*.team.example.com',
      'held-host/one.team.example.com',
    ]);
  });

  // Attack: one of the paths of a shared wildcard would get the users of a host that is not shared.
  test('that its namespace shares with no other', () => {
    const cluster = covered({ sharedHosts: ['*.example.com'] }, { prefix: '/b' });
    cluster.put({ 'a/all': publicSpec(WILDCARD, { prefix: '/a' }) });
    cluster.delete('a/app');
    expect(heldIn(cluster)).toEqual([HELD]);
    cluster.delete('b/all');
    expect(heldIn(cluster)).toEqual([]);
  });

  test('if a compiler of files compiles it, which holds no hosts', () => {
    const cluster = new CompilerCluster();
    cluster.putSettings(settingsSpec());
    cluster.put({ 'a/app': publicSpec(APP), 'b/all': publicSpec(WILDCARD) });
    cluster.delete('a/app');
    expect(heldIn(cluster)).toEqual([]);
  });
});

describe('the cost of a hold', () => {
  test('is one resource of the change, however many hosts and wildcards there are', () => {
    const cluster = covered();
    const specs = Array.from({ length: 200 }, (_, index) => [
      [`a/r${String(index)}`, publicSpec(`https://h${String(index)}.example.com`)] as const,
      [`b/w${String(index)}`, publicSpec(`https://*.w${String(index)}.example.com`)] as const,
    ]);
    cluster.put(Object.fromEntries(specs.flat()));
    expect(heldIn(cluster)).toEqual([]);
    const before = cluster.compilations;
    const { put, deleted } = cluster.delete('a/r7');
    expect(put.map(({ key }) => key)).toEqual(['held-host/h7.example.com']);
    expect(deleted).toEqual(['route/a/r7']);
    expect(cluster.compilations).toBe(before);
  });
});
