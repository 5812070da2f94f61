import { describe, expect, test } from '@jest/globals';

import { IncrementalCompiler } from '../../../../../controller/compile/incremental-compiler.ts';
import { MAX_HELD_HOSTS } from '../../../../../controller/compile/routes/host-holds.ts';
import { CompilerCluster, publicSpec, settingsSpec } from '../../../../support/compiler-cluster.ts';

const APP = 'https://app.example.com';
const HOST = 'app.example.com';
const HOUR = 60 * 60 * 1000;
const NOON = Date.parse('2026-11-22T12:00:00Z');

const HELD = 'the host belongs to namespace a, for which it is held until 2026-11-23T12:00:00Z';

/** A cluster at noon, in which namespace a serves the host and namespace b waits for it. */
function contested(settings: object = {}): CompilerCluster {
  const cluster = new CompilerCluster({ holdsHosts: true });
  cluster.update({ now: NOON });
  cluster.putSettings(settingsSpec(settings));
  cluster.put({ 'a/app': publicSpec(APP) });
  cluster.put({ 'b/app': publicSpec(APP) });
  return cluster;
}

function serving(cluster: CompilerCluster): readonly string[] {
  return Object.keys(cluster.routes).sort();
}

function messagesOf(cluster: CompilerCluster, name: string): readonly string[] {
  return cluster.verdicts.get(name)?.problems.map(({ message }) => message) ?? [];
}

describe('a host of which the last route is deleted', () => {
  // Attack: `kubectl replace --force` deletes a Route and creates it again a moment later.
  test('is held for its namespace, so that a replaced route serves it again', () => {
    const cluster = contested();
    cluster.delete('a/app');
    expect(serving(cluster)).toEqual([]);
    expect(cluster.reasons('b/app')).toEqual(['HostConflict']);

    cluster.put({ 'a/app': publicSpec(APP) });
    expect(serving(cluster)).toEqual(['a/app']);
    expect(messagesOf(cluster, 'b/app')).toEqual(['the host belongs to namespace a']);
  });

  test('is held even if nobody waits for it, from a route that is created later', () => {
    const cluster = contested();
    cluster.delete('b/app');
    cluster.delete('a/app');
    cluster.put({ 'b/app': publicSpec(APP) });
    expect(serving(cluster)).toEqual([]);
  });

  test('is named to the waiting route with its namespace and the end of the hold', () => {
    const cluster = contested();
    cluster.delete('a/app');
    expect(messagesOf(cluster, 'b/app')).toEqual([HELD]);
  });

  test('goes to the waiting route when the time is over, which compiles no other host', () => {
    const cluster = contested();
    cluster.delete('a/app');
    cluster.put({ 'c/app': publicSpec('https://c.example.com') });
    expect(cluster.compiler.nextExpiry).toBe(NOON + 24 * HOUR);
    const before = cluster.update({ now: NOON + 24 * HOUR - 1 });
    expect(before.put).toEqual([]);
    const after = cluster.update({ now: NOON + 24 * HOUR });
    expect(after.put.map(({ key }) => key)).toEqual(['route/b/app']);
    expect(cluster.compiler.nextExpiry).toBeUndefined();
    expect(cluster.hosts.size).toBe(0);
  });

  test('is held for the time in the settings, which may change', () => {
    const cluster = contested({ hostHoldTime: '1h' });
    cluster.delete('a/app');
    expect(cluster.compiler.nextExpiry).toBe(NOON + HOUR);
    cluster.putSettings(settingsSpec({ hostHoldTime: '2h' }));
    cluster.update({ now: NOON + HOUR });
    expect(serving(cluster)).toEqual([]);
    cluster.putSettings(settingsSpec({ hostHoldTime: '30m' }));
    expect(serving(cluster)).toEqual(['b/app']);
  });

  test.each([
    { how: 'the settings turn holds off', change: { hostHoldTime: '0s' } },
    { how: 'the settings share the host', change: { sharedHosts: [HOST] } },
    {
      how: 'the settings give it to another namespace',
      change: { hostPatterns: [{ namespaces: ['b'], hosts: [HOST] }] },
    },
  ])('goes to the waiting route at once if $how', ({ change }) => {
    const cluster = contested();
    cluster.delete('a/app');
    cluster.putSettings(settingsSpec(change));
    expect(serving(cluster)).toEqual(['b/app']);
  });

  test('goes to the waiting route if an operator releases it', () => {
    const cluster = contested();
    cluster.update({ releasedHosts: [HOST] });
    expect(serving(cluster)).toEqual(['a/app']);
    cluster.delete('a/app');
    cluster.update({ releasedHosts: ['other.example.com', HOST] });
    expect(serving(cluster)).toEqual(['b/app']);
  });

  test('goes to the waiting route if the namespace is deleted', () => {
    const cluster = contested();
    cluster.delete('a/app');
    expect(cluster.compiler.holders).toEqual(new Set(['a']));
    cluster.update({ endedNamespaces: new Set(['c', 'a']) });
    expect(serving(cluster)).toEqual(['b/app']);
  });

  test('is held too if its last route moves to another host', () => {
    const cluster = contested();
    cluster.put({ 'a/app': publicSpec('https://new.example.com') });
    expect(serving(cluster)).toEqual(['a/app']);
    expect(messagesOf(cluster, 'b/app')).toEqual([HELD]);
  });

  // Attack: a namespace that loses its label for a moment, as in a restore, must not lose its hosts.
  test('is held too if its namespace is not admitted any longer, and served again once it is', () => {
    const selector = { matchLabels: { gateway: 'yes' } };
    const cluster = new CompilerCluster({ holdsHosts: true });
    const label = (a: string): void => {
      const labels = [
        ['a', { gateway: a }],
        ['b', { gateway: 'yes' }],
      ] as const;
      cluster.change({ namespaces: new Map(labels) });
    };
    cluster.update({ now: NOON });
    cluster.putSettings(
      settingsSpec({ allowedRoutes: { namespaces: { from: 'Selector', selector } } }),
    );
    label('yes');
    cluster.put({ 'a/app': publicSpec(APP) });
    cluster.put({ 'b/app': publicSpec(APP) });
    label('no');
    expect(serving(cluster)).toEqual([]);
    expect(messagesOf(cluster, 'b/app')).toEqual([HELD]);
    label('yes');
    expect(serving(cluster)).toEqual(['a/app']);
    label('no');
    cluster.update({ now: NOON + 24 * HOUR });
    expect(serving(cluster)).toEqual(['b/app']);
  });

  test('is not held by a compiler of files', () => {
    const cluster = new CompilerCluster();
    cluster.putSettings(settingsSpec());
    cluster.put({ 'a/app': publicSpec(APP) });
    cluster.put({ 'b/app': publicSpec(APP) });
    cluster.delete('a/app');
    expect(serving(cluster)).toEqual(['b/app']);
  });
});

describe('a new leader', () => {
  /** A leader that knows the Routes, and what the previous one recorded of hosts. */
  function takeOver(cluster: CompilerCluster, now: number): IncrementalCompiler {
    const options = { devAllowLoopback: false, gatewayClassName: 'gatehouse', holdsHosts: true };
    const compiler = new IncrementalCompiler({ ...options, holdsHosts: true });
    const routes = new Map([['b/app', cluster.stored('b/app')]]);
    const settings = cluster.storedSettings() ?? null;
    compiler.update({ routes, settings, now });
    compiler.adopt({ routes, settings, now }, cluster.hosts);
    return compiler;
  }

  test('finds the hold, and ends it when the time is over', () => {
    const cluster = contested();
    cluster.delete('a/app');
    const compiler = takeOver(cluster, NOON + HOUR);
    expect(compiler.routeCount).toBe(0);
    expect(compiler.nextExpiry).toBe(NOON + 24 * HOUR);
    compiler.update({ now: NOON + 24 * HOUR });
    expect(compiler.routeCount).toBe(1);
  });

  test('holds a host from now on if its last route was deleted while there was no controller', () => {
    const cluster = contested();
    expect([...cluster.hosts]).toEqual([[HOST, { namespace: 'a' }]]);
    const compiler = takeOver(cluster, NOON + HOUR);
    expect(compiler.routeCount).toBe(0);
    expect(compiler.nextExpiry).toBe(NOON + 25 * HOUR);
  });

  test('gives up its own older holds that the previous leader ended', () => {
    const cluster = contested();
    cluster.delete('a/app');
    const settings = cluster.storedSettings() ?? null;
    const { compiler } = cluster;
    compiler.update({ now: NOON + HOUR });
    const adopted = compiler.adopt({ routes: new Map(), settings });
    expect(adopted.put.map(({ key }) => key)).toEqual(['route/b/app']);
  });
});

describe('too many held hosts', () => {
  test('end the hold of the namespace with the most, and of no other', () => {
    const cluster = contested();
    cluster.delete('a/app');
    const names = Array.from({ length: MAX_HELD_HOSTS }, (_, index) => `evil/r${String(index)}`);
    const specs = names.map((name, index) => {
      return [name, publicSpec(`https://h${String(index)}.evil.example`)] as const;
    });
    cluster.put(Object.fromEntries(specs));
    cluster.delete(...names);
    expect(messagesOf(cluster, 'b/app')).toEqual([HELD]);
    expect(cluster.hosts.size).toBe(MAX_HELD_HOSTS);
  });
});
