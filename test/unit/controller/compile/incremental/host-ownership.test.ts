import { describe, expect, test } from '@jest/globals';

import { CompilerCluster, publicSpec, settingsSpec } from '../../../../support/compiler-cluster.ts';

const A = 'https://a.example.com';
const B = 'https://b.example.com';

function started(): CompilerCluster {
  const cluster = new CompilerCluster();
  cluster.putSettings(settingsSpec());
  return cluster;
}

function serving(cluster: CompilerCluster): readonly string[] {
  return Object.keys(cluster.routes).sort();
}

describe('a host', () => {
  test('belongs to the namespace of its oldest route', () => {
    const cluster = started();
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({
      'y/app': publicSpec(A, { prefix: '/y' }),
      'x/more': publicSpec(A, { prefix: '/x' }),
    });

    expect(serving(cluster)).toEqual(['x/app', 'x/more']);
    expect(cluster.verdicts.get('y/app')?.findings).toEqual([
      {
        path: 'spec.from',
        reason: 'HostConflict',
        message: 'the host belongs to namespace x',
      },
    ]);
  });

  // Attack: routes keep their age. An old one must not take a host by a change to it.
  test('stays with its namespace when an older route of another one asks for it', () => {
    const cluster = started();
    cluster.put({ 'y/old': publicSpec(B) });
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({ 'y/old': publicSpec(A) });

    expect(cluster.routes).toMatchObject({
      'x/app': { host: 'a.example.com' },
      'y/old': { host: 'b.example.com' },
    });

    cluster.takeOver();

    expect(cluster.routes).toMatchObject({
      'x/app': { host: 'a.example.com' },
      'y/old': { host: 'b.example.com' },
    });
  });

  test('stays with its namespace while any route there asks for it', () => {
    const cluster = started();
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

  test('stays with its namespace while nobody can sign in', () => {
    const cluster = started();
    cluster.put({ 'x/app': { from: A, to: 'http://up', allowAnyAuthenticatedUser: true } });
    cluster.put({ 'y/app': publicSpec(A) });
    cluster.putSettings(null);

    expect(serving(cluster)).toEqual([]);
    expect(cluster.reasons('x/app')).toEqual(['SettingsNotFound']);
    expect(cluster.reasons('y/app')).toEqual(['HostConflict']);

    cluster.putSettings(settingsSpec());

    expect(serving(cluster)).toEqual(['x/app']);
  });

  test('is not kept by a route that was never valid', () => {
    const cluster = started();
    cluster.put({ 'x/bad': publicSpec(A, { regex: '(a+)+' }) });
    cluster.put({ 'y/app': publicSpec(A) });

    expect(serving(cluster)).toEqual(['y/app']);
  });

  test("that is shared is anybody's, path by path", () => {
    const cluster = started();
    cluster.putSettings(settingsSpec({ sharedHosts: ['a.example.com'] }));
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({
      'y/app': publicSpec(A, { prefix: '/y' }),
      'y/port': publicSpec(`${A}:8443`),
      'y/taken': publicSpec(A),
    });

    expect(serving(cluster)).toEqual(['x/app', 'y/app', 'y/port']);
    expect(cluster.verdicts.get('y/taken')?.findings).toMatchObject([
      { message: 'a Route of namespace x already serves the same host and path' },
    ]);
  });

  test('that is shared no more belongs to the namespace of its oldest route again', () => {
    const cluster = started();
    cluster.putSettings(settingsSpec({ sharedHosts: ['a.example.com'] }));
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({ 'y/app': publicSpec(A, { prefix: '/y' }) });
    cluster.putSettings(settingsSpec());

    expect(serving(cluster)).toEqual(['x/app']);
    expect(cluster.reasons('y/app')).toEqual(['HostConflict']);
  });

  test('is another one than the wildcard above it', () => {
    const cluster = started();
    cluster.put({ 'x/app': publicSpec('https://*.example.com') });
    cluster.put({ 'y/app': publicSpec(A), 'y/wildcard': publicSpec('https://*.example.com') });

    expect(serving(cluster)).toEqual(['x/app', 'y/app']);
  });
});
