import { describe, expect, test } from '@jest/globals';

import type { CompilerCluster } from '../../../../support/compiler-cluster.ts';
import {
  startedCluster,
  publicSpec,
  settingsSpec,
  withStatus,
} from '../../../../support/compiler-cluster.ts';

const A = 'https://a.example.com';
const B = 'https://b.example.com';
const C = 'https://c.example.com';

/** A spec that the compiler rejects. */
function badSpec(from: string): object {
  return publicSpec(from, { regex: '(?=a)' });
}

function started(specs: Readonly<Record<string, unknown>>): CompilerCluster {
  const cluster = startedCluster();
  cluster.put(specs);
  return cluster;
}

function hosts(cluster: CompilerCluster): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(cluster.routes).map(([name, { host }]) => [name, host.replace(/\..*/, '')]),
  );
}

describe('a rejected update', () => {
  test('leaves the last accepted generation in service, and reports both', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    const { put, deleted } = cluster.put({ 'x/app': badSpec(B) });

    expect([...put, ...deleted]).toEqual([]);
    expect(hosts(cluster)).toEqual({ 'x/app': 'a' });
    expect(cluster.verdicts.get('x/app')).toMatchObject({
      isAccepted: false,
      problems: [{ reason: 'InvalidRegex' }],
      served: { generation: 1, spec: publicSpec(A), key: 'route/x/app' },
      url: A,
    });
  });

  test('ends when it is changed back', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    cluster.put({ 'x/app': badSpec(B) });
    cluster.put({ 'x/app': publicSpec(A) });

    expect(cluster.verdicts.get('x/app')).toMatchObject({
      isAccepted: true,
      problems: [],
      served: { generation: 3 },
    });
  });

  test('keeps the old address from other routes', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    cluster.put({ 'x/app': badSpec(B) });
    cluster.put({ 'x/new': publicSpec(A) });

    expect(hosts(cluster)).toEqual({ 'x/app': 'a' });
    expect(cluster.reasons('x/new')).toEqual(['HostConflict']);
  });

  test('keeps the old host of a route that asks for the host of an older one', () => {
    const cluster = started({ 'x/first': publicSpec(A), 'x/second': publicSpec(B) });
    cluster.put({ 'x/second': publicSpec(A) });

    expect(hosts(cluster)).toEqual({ 'x/first': 'a', 'x/second': 'b' });
    expect(cluster.reasons('x/second')).toEqual(['HostConflict']);
  });

  test('is accepted once the older route leaves the host', () => {
    const cluster = started({ 'x/first': publicSpec(A), 'x/second': publicSpec(B) });
    cluster.put({ 'x/second': publicSpec(A) });
    cluster.delete('x/first');

    expect(hosts(cluster)).toEqual({ 'x/second': 'a' });
    expect(cluster.verdicts.get('x/second')).toMatchObject({ isAccepted: true, problems: [] });
  });

  test('makes routes fall back that asked for what it falls back to', () => {
    const cluster = started({
      'x/first': publicSpec(A),
      'x/second': publicSpec(B),
      'x/third': publicSpec(C),
    });
    cluster.put({ 'x/first': badSpec(C), 'x/second': publicSpec(A), 'x/third': publicSpec(B) });

    expect(hosts(cluster)).toEqual({ 'x/first': 'a', 'x/second': 'b', 'x/third': 'c' });
    expect(cluster.reasons('x/second')).toEqual(['HostConflict']);
    expect(cluster.reasons('x/third')).toEqual(['HostConflict']);
  });

  test('does not fall back to an address that an older route got since, whatever changes elsewhere', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/older': publicSpec(C) });
    cluster.put({ 'x/winner': publicSpec(A) });
    cluster.put({ 'x/app': publicSpec(B) });
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.put({ 'x/older': publicSpec(B) });

    expect(hosts(cluster)).toEqual({ 'x/older': 'b', 'x/winner': 'a' });

    cluster.put({ 'x/another': publicSpec(A, { prefix: '/another' }) });

    expect(hosts(cluster)).toEqual({ 'x/another': 'a', 'x/older': 'b', 'x/winner': 'a' });
  });
});

describe('a host', () => {
  test('can be swapped for another between two routes in one update', () => {
    const cluster = started({ 'x/first': publicSpec(A), 'y/second': publicSpec(B) });
    cluster.putSettings(settingsSpec({ sharedHosts: ['a.example.com', 'b.example.com'] }));
    cluster.put({ 'x/first': publicSpec(B), 'y/second': publicSpec(A) });

    expect(hosts(cluster)).toEqual({ 'x/first': 'b', 'y/second': 'a' });
  });

  test('passes to the route that waits for it when its route leaves', () => {
    const cluster = started({ 'x/first': publicSpec(A), 'y/second': publicSpec(A) });
    cluster.put({ 'x/first': publicSpec(B) });

    expect(hosts(cluster)).toEqual({ 'x/first': 'b', 'y/second': 'a' });
  });
});

describe('a deleted route', () => {
  test('leaves nothing in service', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    cluster.put({ 'x/app': badSpec(A) });
    cluster.delete('x/app');

    expect(cluster.routes).toEqual({});
    expect(cluster.verdicts.size).toBe(0);
  });

  test('has no history when it is created again, even if the deletion was not seen', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    const stored = cluster.stored('x/app');
    const anew = {
      metadata: { ...stored.metadata, uid: 'another', generation: 1 },
      spec: badSpec(A),
    };
    cluster.update({ routes: new Map([['x/app', anew]]) });

    expect(cluster.routes).toEqual({});
    expect(cluster.reasons('x/app')).toEqual(['InvalidRegex']);
  });
});

describe('another controller that takes over', () => {
  test('continues with what serves', () => {
    const cluster = started({ 'x/app': publicSpec(A), 'x/other': publicSpec(C) });
    cluster.put({ 'x/app': badSpec(B) });
    const before = new Map(cluster.snapshot);
    cluster.takeOver();

    expect(cluster.snapshot).toEqual(before);
    expect(cluster.verdicts.get('x/app')).toMatchObject({
      isAccepted: false,
      served: { generation: 1, spec: publicSpec(A) },
    });
  });

  test('forgets the fallback when the newest generation is accepted', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    cluster.put({ 'x/app': badSpec(B) });
    cluster.takeOver();
    cluster.put({ 'x/app': publicSpec(B) });
    cluster.put({ 'x/app': badSpec(C) });

    expect(hosts(cluster)).toEqual({ 'x/app': 'b' });
  });

  // Attack: writing a status must give a route nothing that writing its spec would not.
  test.each([
    ['the path of an older route', { ...publicSpec(A) }, 'x/app'],
    ['a host of another namespace', { ...publicSpec(A, { prefix: '/x' }) }, 'y/app'],
    [
      'an invalid policy',
      { from: B, to: 'http://up', policy: { deny: { or: [{ x: 1 }] } } },
      'x/app',
    ],
    ['another class', publicSpec(B, { gatewayClassName: 'internal' }), 'x/app'],
    ['an unknown field', publicSpec(B, { hat: 1 }), 'x/app'],
    ['no spec', null, 'x/app'],
  ])('gives no route %s because of its status', (_what, spec, name) => {
    const cluster = started({ 'x/old': publicSpec(A) });
    cluster.put({ [name]: badSpec(C) });
    cluster.takeOver((route) =>
      route.metadata.name === 'app'
        ? withStatus(route, { gatewayClassName: 'gatehouse', served: { generation: 0, spec } })
        : route,
    );

    expect(Object.keys(cluster.routes)).toEqual(['x/old']);
  });

  test('ignores a generation in the status that is not older than the newest', () => {
    const cluster = started({ 'x/app': badSpec(A) });
    cluster.takeOver((route) => ({
      ...route,
      status: { gatewayClassName: 'gatehouse', served: { generation: 1, spec: publicSpec(A) } },
    }));

    expect(cluster.routes).toEqual({});
  });
});

describe('a route of a namespace that is not admitted', () => {
  const SELECTOR = { from: 'Selector', selector: { matchLabels: { gateway: 'yes' } } };

  function selecting(): CompilerCluster {
    const cluster = startedCluster();
    cluster.putSettings(settingsSpec({ allowedRoutes: { namespaces: SELECTOR } }));
    cluster.change({ namespaces: new Map([['x', { gateway: 'yes' }]]) });
    cluster.put({ 'x/app': publicSpec(A), 'y/app': publicSpec(B) });
    return cluster;
  }

  test('does not serve, and reports the reason', () => {
    const cluster = selecting();

    expect(hosts(cluster)).toEqual({ 'x/app': 'a' });
    expect(cluster.reasons('y/app')).toEqual(['NotAllowedByGateway']);
  });

  test('serves while its namespace is admitted', () => {
    const cluster = selecting();
    cluster.change({ namespaces: new Map([['y', { gateway: 'yes' }]]) });

    expect(hosts(cluster)).toEqual({ 'x/app': 'a', 'y/app': 'b' });

    cluster.change({
      namespaces: new Map<string, Record<string, string> | undefined>([
        ['x', { gateway: 'no' }],
        ['y', undefined],
      ]),
    });

    expect(cluster.routes).toEqual({});
  });

  test('does not serve in an older generation either', () => {
    const cluster = selecting();
    cluster.put({ 'x/app': badSpec(A) });

    expect(hosts(cluster)).toEqual({ 'x/app': 'a' });

    cluster.putSettings(settingsSpec({ allowedRoutes: { namespaces: { from: 'Same' } } }));

    expect(cluster.routes).toEqual({});
    expect(cluster.reasons('x/app')).toEqual(['NotAllowedByGateway', 'InvalidRegex']);

    cluster.takeOver();

    expect(cluster.routes).toEqual({});
  });

  test.each<[string, object | null]>([
    ['it is admitted', settingsSpec({ allowedRoutes: { namespaces: { from: 'Same' } } })],
    ['there are settings', null],
  ])('serves in another controller as before, once %s again', (_, closed) => {
    const cluster = selecting();
    cluster.put({ 'x/app': badSpec(A) });
    cluster.putSettings(closed);
    cluster.takeOver();
    cluster.takeOver();
    cluster.putSettings(settingsSpec());

    expect(hosts(cluster)).toMatchObject({ 'x/app': 'a' });
    expect(cluster.verdicts.get('x/app')).toMatchObject({ isAccepted: false });
  });

  test('does not keep a host from other routes', () => {
    const cluster = selecting();
    cluster.put({ 'x/new': publicSpec(B) });

    expect(hosts(cluster)).toEqual({ 'x/app': 'a', 'x/new': 'b' });
  });
});
