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

/** A spec that no compiler accepts. */
function badSpec(from: string): object {
  return publicSpec(from, { regex: '(a+)+' });
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

describe('an update that is not accepted', () => {
  test('leaves the last accepted generation in service, and says so', () => {
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

  test('heals when it is changed back', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    cluster.put({ 'x/app': badSpec(B) });
    cluster.put({ 'x/app': publicSpec(A) });

    expect(cluster.verdicts.get('x/app')).toMatchObject({
      isAccepted: true,
      problems: [],
      served: { generation: 3 },
    });
  });

  test('keeps its old address from others', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    cluster.put({ 'x/app': badSpec(B) });
    cluster.put({ 'x/new': publicSpec(A) });

    expect(hosts(cluster)).toEqual({ 'x/app': 'a' });
    expect(cluster.reasons('x/new')).toEqual(['HostConflict']);
  });

  test('that loses a host goes back to its own', () => {
    const cluster = started({ 'x/first': publicSpec(A), 'x/second': publicSpec(B) });
    cluster.put({ 'x/second': publicSpec(A) });

    expect(hosts(cluster)).toEqual({ 'x/first': 'a', 'x/second': 'b' });
    expect(cluster.reasons('x/second')).toEqual(['HostConflict']);
  });

  test('takes the host when the other one leaves', () => {
    const cluster = started({ 'x/first': publicSpec(A), 'x/second': publicSpec(B) });
    cluster.put({ 'x/second': publicSpec(A) });
    cluster.delete('x/first');

    expect(hosts(cluster)).toEqual({ 'x/second': 'a' });
    expect(cluster.verdicts.get('x/second')).toMatchObject({ isAccepted: true, problems: [] });
  });

  test('makes those go back that asked for what it goes back to', () => {
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

  test('does not go back to what an older route has taken since, whatever changes elsewhere', () => {
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

  test('lets routes swap their addresses at once', () => {
    const cluster = started({ 'x/first': publicSpec(A), 'y/second': publicSpec(B) });
    cluster.putSettings(settingsSpec({ sharedHosts: ['a.example.com', 'b.example.com'] }));
    cluster.put({ 'x/first': publicSpec(B), 'y/second': publicSpec(A) });

    expect(hosts(cluster)).toEqual({ 'x/first': 'b', 'y/second': 'a' });
  });

  test('gives a host that it left to those that wait for it', () => {
    const cluster = started({ 'x/first': publicSpec(A), 'y/second': publicSpec(A) });
    cluster.put({ 'x/first': publicSpec(B) });

    expect(hosts(cluster)).toEqual({ 'x/first': 'b', 'y/second': 'a' });
  });
});

describe('a route that is gone', () => {
  test('is gone with its last accepted generation', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    cluster.put({ 'x/app': badSpec(A) });
    cluster.delete('x/app');

    expect(cluster.routes).toEqual({});
    expect(cluster.verdicts.size).toBe(0);
  });

  test('is another one when it is made anew, also when only that is seen', () => {
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
  test('goes on with what serves', () => {
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

  test('forgets it when the newest is accepted', () => {
    const cluster = started({ 'x/app': publicSpec(A) });
    cluster.put({ 'x/app': badSpec(B) });
    cluster.takeOver();
    cluster.put({ 'x/app': publicSpec(B) });
    cluster.put({ 'x/app': badSpec(C) });

    expect(hosts(cluster)).toEqual({ 'x/app': 'b' });
  });

  // Attack: whoever may write statuses must get nothing for it that a spec would not get.
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
  ])('gives no route %s for what a status says', (_what, spec, name) => {
    const cluster = started({ 'x/old': publicSpec(A) });
    cluster.put({ [name]: badSpec(C) });
    cluster.takeOver((route) =>
      route.metadata.name === 'app'
        ? withStatus(route, { gatewayClassName: 'gatehouse', served: { generation: 0, spec } })
        : route,
    );

    expect(Object.keys(cluster.routes)).toEqual(['x/old']);
  });

  test('takes no generation from a status that is not an older one', () => {
    const cluster = started({ 'x/app': badSpec(A) });
    cluster.takeOver((route) => ({
      ...route,
      status: { gatewayClassName: 'gatehouse', served: { generation: 1, spec: publicSpec(A) } },
    }));

    expect(cluster.routes).toEqual({});
  });
});

describe('a route of a namespace that is not allowed', () => {
  const SELECTOR = { from: 'Selector', selector: { matchLabels: { gateway: 'yes' } } };

  function selecting(): CompilerCluster {
    const cluster = startedCluster();
    cluster.putSettings(settingsSpec({ allowedRoutes: { namespaces: SELECTOR } }));
    cluster.change({ namespaces: new Map([['x', { gateway: 'yes' }]]) });
    cluster.put({ 'x/app': publicSpec(A), 'y/app': publicSpec(B) });
    return cluster;
  }

  test('does not serve, and says why', () => {
    const cluster = selecting();

    expect(hosts(cluster)).toEqual({ 'x/app': 'a' });
    expect(cluster.reasons('y/app')).toEqual(['NotAllowedByGateway']);
  });

  test('serves from when it is allowed until it is not', () => {
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

  test('serves in no older generation either', () => {
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
  ])('serves as it did in another controller, once %s again', (_, closed) => {
    const cluster = selecting();
    cluster.put({ 'x/app': badSpec(A) });
    cluster.putSettings(closed);
    cluster.takeOver();
    cluster.takeOver();
    cluster.putSettings(settingsSpec());

    expect(hosts(cluster)).toMatchObject({ 'x/app': 'a' });
    expect(cluster.verdicts.get('x/app')).toMatchObject({ isAccepted: false });
  });

  test('keeps no host from others', () => {
    const cluster = selecting();
    cluster.put({ 'x/new': publicSpec(B) });

    expect(hosts(cluster)).toEqual({ 'x/app': 'a', 'x/new': 'b' });
  });
});
