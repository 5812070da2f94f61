import { describe, expect, test } from '@jest/globals';

import {
  publicSpec,
  settingsSpec,
  startedCluster,
  type CompilerCluster,
} from '../../../../support/compiler-cluster.ts';

const A = 'https://a.example.com';
const B = 'https://b.example.com';

const YES: Readonly<Record<string, string>> = { gateway: 'yes' };
const SELECTING = settingsSpec({
  allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: YES } } },
});

/** Admits routes of the settings' namespace only. */
const ONLY_OWN = settingsSpec({ allowedRoutes: { namespaces: { from: 'Same' } } });

/** Labels both namespaces. */
function label(
  cluster: CompilerCluster,
  x: Readonly<Record<string, string>>,
  y: Readonly<Record<string, string>>,
): void {
  cluster.change({
    namespaces: new Map([
      ['x', x],
      ['y', y],
    ]),
  });
}

/** Namespace x gets a host, and then an older route of namespace y asks for it. */
function contest(cluster: CompilerCluster): void {
  cluster.put({ 'y/old': publicSpec(B) });
  cluster.put({ 'x/app': publicSpec(A) });
  cluster.put({ 'y/old': publicSpec(A) });
}

/** Expects each namespace to serve the host that it had first. */
function expectEachWithItsOwn(cluster: CompilerCluster): void {
  expect(cluster.routes).toMatchObject({
    'x/app': { host: 'a.example.com' },
    'y/old': { host: 'b.example.com' },
  });
}

function urlOf(cluster: CompilerCluster, name: string): string | undefined {
  return cluster.status(name)?.url;
}

function serving(cluster: CompilerCluster): readonly string[] {
  return Object.keys(cluster.routes).sort();
}

describe('a host', () => {
  test('belongs to the namespace of its oldest route', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({
      'y/app': publicSpec(A, { prefix: '/y' }),
      'x/more': publicSpec(A, { prefix: '/x' }),
    });

    expect(serving(cluster)).toEqual(['x/app', 'x/more']);
    expect(cluster.verdicts.get('y/app')?.problems).toEqual([
      {
        path: 'spec.from',
        reason: 'HostConflict',
        message: 'the host belongs to namespace x',
      },
    ]);
  });

  // Attack: routes keep their age. An old route must not take a host by being changed.
  test('stays with its namespace if an older route of another namespace asks for it', () => {
    const cluster = startedCluster();
    contest(cluster);

    expectEachWithItsOwn(cluster);

    cluster.takeOver();

    expectEachWithItsOwn(cluster);
  });

  // Attack: a tenant gets a host at another gateway, and moves the route here.
  test('is not given to a route because it has the host at another gateway', () => {
    const cluster = startedCluster();
    contest(cluster);
    const theirs = { gatewayClassName: 'other', url: A };
    cluster.takeOver((route) =>
      route.metadata.name === 'old' ? { ...route, status: theirs } : route,
    );

    expect(cluster.routes).toMatchObject({ 'x/app': { host: 'a.example.com' } });
  });

  test('stays with its namespace while any route there asks for it', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/first': publicSpec(A) });
    cluster.put({ 'y/app': publicSpec(A) });
    cluster.put({ 'x/second': publicSpec(A, { prefix: '/second' }) });
    cluster.delete('x/first');

    expect(serving(cluster)).toEqual(['x/second']);

    cluster.takeOver();

    expect(serving(cluster)).toEqual(['x/second']);

    cluster.delete('x/second');

    expect(serving(cluster)).toEqual(['y/app']);
  });

  test('stays with its namespace while there are no settings', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/app': { from: A, to: 'http://up', allowAnyAuthenticatedUser: true } });
    cluster.put({ 'y/app': publicSpec(A) });
    cluster.putSettings(null);

    expect(serving(cluster)).toEqual([]);
    expect(cluster.reasons('x/app')).toEqual(['SettingsNotFound']);
    expect(cluster.reasons('y/app')).toEqual(['SettingsNotFound']);

    cluster.takeOver();
    cluster.putSettings(settingsSpec());

    expect(serving(cluster)).toEqual(['x/app']);
    expect(cluster.reasons('y/app')).toEqual(['HostConflict']);
  });

  // Attack: deleting the settings, on purpose or by mistake, must not move a host.
  test.each<[string, (cluster: CompilerCluster) => void]>([
    ['there are no settings', (cluster) => void cluster.putSettings(null)],
    ['settings admit neither', (cluster) => void cluster.putSettings(ONLY_OWN)],
    ['nobody can sign in', (cluster) => void cluster.putSettings({})],
  ])('stays with its namespace when another controller takes over while %s', (_, close) => {
    const cluster = startedCluster();
    const signedIn = { allowPublicUnauthenticatedAccess: false, allowAnyAuthenticatedUser: true };
    cluster.put({ 'y/old': publicSpec(B, signedIn) });
    cluster.put({ 'x/app': publicSpec(A, signedIn) });
    cluster.put({ 'y/old': publicSpec(A, signedIn) });
    close(cluster);

    expect(serving(cluster)).toEqual([]);

    cluster.takeOver();
    cluster.takeOver();
    cluster.putSettings(settingsSpec());

    expectEachWithItsOwn(cluster);
  });

  test('is not kept by a route that asks for another host, or whose namespace lost it', () => {
    const cluster = startedCluster();
    label(cluster, YES, YES);
    cluster.putSettings(SELECTING);
    cluster.put({ 'x/moving': publicSpec('https://moved.example.com') });
    cluster.put({ 'x/lost': publicSpec(A) });
    label(cluster, {}, YES);
    cluster.takeOver();

    expect(urlOf(cluster, 'x/moving')).toBe('https://moved.example.com');
    expect(urlOf(cluster, 'x/lost')).toBe(A);

    cluster.put({ 'x/moving': publicSpec(B) });
    cluster.put({ 'y/taking': publicSpec(A) });

    expect(urlOf(cluster, 'x/moving')).toBeUndefined();
    expect(urlOf(cluster, 'x/lost')).toBeUndefined();

    label(cluster, YES, YES);
    cluster.takeOver();

    expect(serving(cluster)).toEqual(['x/moving', 'y/taking']);
    expect(cluster.reasons('x/lost')).toEqual(['HostConflict']);
  });

  test('is not kept by a rejected route while the settings let nothing serve', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({ 'y/app': publicSpec(A) });
    cluster.putSettings(null);

    expect(urlOf(cluster, 'x/app')).toBe(A);
    expect(urlOf(cluster, 'y/app')).toBeUndefined();
  });

  test('is not kept by a route that was never valid', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/bad': publicSpec(A, { regex: '(?=a)' }) });
    cluster.put({ 'y/app': publicSpec(A) });

    expect(serving(cluster)).toEqual(['y/app']);
  });

  // Attack: an old route that was changed to ask for the host must not get it by a restart of the controller.
  test('stays with its namespace if the labels of namespaces are read after the routes', () => {
    const cluster = startedCluster();
    label(cluster, YES, YES);
    cluster.putSettings(SELECTING);
    contest(cluster);
    const before = new Map(cluster.snapshot);
    cluster.takeOver();

    expect(new Map([...cluster.snapshot].sort())).toEqual(new Map([...before].sort()));
  });

  test('keeps serving until the labels that the settings now select by are known', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/app': publicSpec(A), 'y/app': publicSpec(B) });
    const { put, deleted, routes } = cluster.putSettings(SELECTING);

    expect([...put, ...deleted, ...routes]).toEqual([]);
    expect(cluster.compiler.obstacle).toBeUndefined();

    label(cluster, YES, {});

    expect(serving(cluster)).toEqual(['x/app']);
  });

  test('stays with a namespace that is not admitted while nobody else asks for it', () => {
    const cluster = startedCluster();
    label(cluster, YES, YES);
    cluster.putSettings(SELECTING);
    contest(cluster);
    label(cluster, {}, {});

    expect(serving(cluster)).toEqual([]);

    label(cluster, YES, YES);

    expectEachWithItsOwn(cluster);
  });

  test('is independent of the wildcard above it', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/app': publicSpec('https://*.example.com') });
    cluster.put({ 'y/app': publicSpec(A), 'y/wildcard': publicSpec('https://*.example.com') });

    expect(serving(cluster)).toEqual(['x/app', 'y/app']);
  });
});
