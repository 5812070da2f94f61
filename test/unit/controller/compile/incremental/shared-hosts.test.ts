import { describe, expect, test } from '@jest/globals';

import {
  publicSpec,
  settingsSpec,
  startedCluster,
  type CompilerCluster,
} from '../../../../support/compiler-cluster.ts';

const A = 'https://a.example.com';
const B = 'https://b.example.com';

function serving(cluster: CompilerCluster): readonly string[] {
  return Object.keys(cluster.routes).sort();
}

describe('a host', () => {
  test('that is shared may be used by every namespace, path by path', () => {
    const cluster = startedCluster();
    cluster.putSettings(settingsSpec({ sharedHosts: ['a.example.com'] }));
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({
      'y/app': publicSpec(A, { prefix: '/y' }),
      'y/port': publicSpec(`${A}:8443`),
      'y/taken': publicSpec(A),
    });

    expect(serving(cluster)).toEqual(['x/app', 'y/app', 'y/port']);
    expect(cluster.verdicts.get('y/taken')?.problems).toMatchObject([
      { message: 'a Route of namespace x already serves the same host and path' },
    ]);
  });

  test('belongs to the namespace of its oldest route once it is not shared any longer', () => {
    const cluster = startedCluster();
    cluster.putSettings(settingsSpec({ sharedHosts: ['a.example.com'] }));
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({ 'y/app': publicSpec(A, { prefix: '/y' }) });
    cluster.putSettings(settingsSpec());

    expect(serving(cluster)).toEqual(['x/app']);
    expect(cluster.reasons('y/app')).toEqual(['HostConflict']);
  });

  test('belongs to its owner again after it was shared', () => {
    const cluster = startedCluster();
    cluster.put({ 'y/old': publicSpec(B) });
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.putSettings(settingsSpec({ sharedHosts: ['a.example.com'] }));
    cluster.put({ 'y/old': publicSpec(A, { prefix: '/y' }) });

    expect(serving(cluster)).toEqual(['x/app', 'y/old']);

    cluster.putSettings(settingsSpec());

    expect(serving(cluster)).toEqual(['x/app']);
  });

  test('has an owner even if it is shared when a controller starts', () => {
    const cluster = startedCluster();
    cluster.putSettings(settingsSpec({ sharedHosts: ['a.example.com'] }));
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({ 'y/app': publicSpec(B) });
    cluster.takeOver();
    cluster.delete('x/app');
    cluster.put({ 'y/app': publicSpec(A) });
    cluster.put({ 'x/new': publicSpec(A, { prefix: '/x' }) });
    cluster.putSettings(settingsSpec());

    expect(serving(cluster)).toEqual(['y/app']);
  });
});
