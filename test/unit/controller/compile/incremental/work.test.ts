import { describe, expect, test } from '@jest/globals';

import type { CompilerCluster } from '../../../../support/compiler-cluster.ts';
import { startedCluster, publicSpec, settingsSpec } from '../../../../support/compiler-cluster.ts';
import { parseStoredRoute } from '../../../../../controller/kubernetes/parse-stored.ts';
import { aRoute } from '../../../../support/resources.ts';

const ROUTES = 50;

/** A cluster with settings and many routes, on several hosts. */
function populated(): CompilerCluster {
  const cluster = startedCluster();
  const specs = Array.from({ length: ROUTES }, (_value, index) => [
    `team-a/r${String(index)}`,
    publicSpec(`https://h${String(index % 10)}.example.com`, { prefix: `/p${String(index)}` }),
  ]);
  cluster.put(Object.fromEntries(specs) as Record<string, unknown>);
  return cluster;
}

/** Counts the compilations of routes during a change. */
function compilationsOf(cluster: CompilerCluster, change: () => void): number {
  const before = cluster.compilations;
  change();
  return cluster.compilations - before;
}

describe('the first compilation', () => {
  test('compiles each route once, and reports everything', () => {
    const cluster = populated();

    expect(cluster.compilations).toBe(ROUTES);
    expect(cluster.compiler.routeCount).toBe(ROUTES);
    expect(cluster.verdicts.size).toBe(ROUTES);
    expect([...cluster.snapshot.keys()].filter((key) => !key.startsWith('route/'))).toEqual([
      'settings',
      'identity-provider/idp',
    ]);
  });
});

describe('a change of one route', () => {
  test.each([
    ['its upstream', { to: 'http://other:8080' }],
    ['its path', { prefix: '/elsewhere' }],
    ['its host', { from: 'https://elsewhere.example.com' }],
  ])('of %s compiles and reports only that route', (_what, change) => {
    const cluster = populated();
    const spec = publicSpec('https://h3.example.com', { prefix: '/p3', ...change });
    const before = cluster.compilations;
    const { put, deleted, routes } = cluster.put({ 'team-a/r3': spec });

    expect(cluster.compilations - before).toBe(1);
    expect(put.map(({ key }) => key)).toEqual(['route/team-a/r3']);
    expect(deleted).toEqual([]);
    expect([...routes.keys()]).toEqual(['team-a/r3']);
  });

  test('that changes only its generation publishes nothing, and reports the generation', () => {
    const cluster = populated();
    const spec = publicSpec('https://h3.example.com', { prefix: '/p3/' });
    const { put, routes } = cluster.put({ 'team-a/r3': spec });

    expect(put).toEqual([]);
    expect(routes.get('team-a/r3')).toMatchObject({ served: { generation: 2 } });
  });

  test('in status and labels compiles and reports nothing', () => {
    const cluster = populated();
    const stored = cluster.stored('team-a/r3');
    const metadata = { ...stored.metadata, resourceVersion: '99', labels: { a: 'b' } };
    const route = { ...stored, metadata };
    const work = compilationsOf(cluster, () => {
      const compilation = cluster.update({ routes: new Map([['team-a/r3', route]]) });

      expect(compilation).toEqual({ put: [], deleted: [], routes: new Map(), hosts: new Map() });
    });

    expect(work).toBe(0);
  });

  test('removes it if it is deleted', () => {
    const cluster = populated();
    const { put, deleted, routes, settings } = cluster.delete('team-a/r3');

    expect(put).toEqual([]);
    expect(deleted).toEqual(['route/team-a/r3']);
    expect(routes).toEqual(new Map([['team-a/r3', undefined]]));
    expect(settings).toMatchObject({ attachedRoutes: ROUTES - 1 });
  });
});

describe('a change of the settings', () => {
  test('that does not affect routes compiles no route', () => {
    const cluster = populated();
    const work = compilationsOf(cluster, () => {
      const { put } = cluster.putSettings(settingsSpec({ cookie: { expiration: '1h' } }));

      expect(put.map(({ key }) => key)).toEqual(['settings']);
    });

    expect(work).toBe(0);
  });

  test('of how denied tools are answered compiles no route, and publishes none', () => {
    const cluster = startedCluster();
    const mcp = { server: { toolDenial: 'error' } };
    cluster.put({
      'team-a/says-it-itself': { from: 'https://a.example.com', to: 'http://up', mcp },
      'team-a/by-settings': { from: 'https://b.example.com', to: 'http://up', mcp: { server: {} } },
    });
    const work = compilationsOf(cluster, () => {
      const { put, routes } = cluster.putSettings(settingsSpec({ toolDenial: 'result' }));

      expect(put.map(({ key }) => key)).toEqual(['settings']);
      expect(routes.size).toBe(0);
    });

    expect(work).toBe(0);
  });

  test('that affects all routes compiles them all', () => {
    const cluster = populated();
    const work = compilationsOf(cluster, () => {
      cluster.putSettings(settingsSpec({ authenticateUrl: 'https://h3.example.com' }));
    });

    expect(work).toBe(ROUTES);
    expect(cluster.reasons('team-a/r3')).toEqual(['HostConflict']);
    expect(cluster.reasons('team-a/r4')).toEqual([]);
  });
});

describe('a route as an API server sends it', () => {
  test('is valid with all fields that the server adds', () => {
    const cluster = startedCluster();
    const route = aRoute({ ...publicSpec('https://a.example.com'), gatewayClassName: 'gatehouse' });
    const metadata = {
      ...route.metadata,
      uid: '7f9d',
      resourceVersion: '12',
      generation: 3,
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-02T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      selfLink: '/apis',
      generateName: 'app-',
      finalizers: ['example.com/finalizer'],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }],
      managedFields: [{ manager: 'kubectl', operation: 'Apply', fieldsV1: { 'f:spec': {} } }],
      somethingNew: true,
    };
    // Items of a list have no apiVersion and no kind.
    const { spec } = route;
    const object = { metadata, spec, status: { x: 1 } };
    cluster.update({ routes: new Map([['default/app', parseStoredRoute(object)]]) });

    expect(cluster.verdicts.get('default/app')).toMatchObject({
      isAccepted: true,
      problems: [],
      served: { generation: 3, spec, key: 'route/default/app' },
      mcpRole: '',
      url: 'https://a.example.com',
    });
  });

  test.each([
    ['that is unknown', { from: 'https://a.example.com', to: 'http://up', hat: 1 }, 'InvalidSpec'],
    ['that is missing', { to: 'http://up' }, 'InvalidSpec'],
    // Attack: the API server keeps unknown keys of policies. A misspelt deny clause must not be ignored.
    [
      'of its policy that is unknown',
      {
        from: 'https://a.example.com',
        to: 'http://up',
        policy: { deny: { or: [{ emial: 'x' }] } },
      },
      'InvalidPolicy',
    ],
  ])('is rejected for a field %s', (_what, spec, reason) => {
    const cluster = startedCluster();
    cluster.put({ 'team-a/app': spec });

    expect(cluster.reasons('team-a/app')).toContain(reason);
    expect(cluster.verdicts.get('team-a/app')).toMatchObject({ isAccepted: false, url: '' });
    expect(cluster.routes).toEqual({});
  });

  test.each([[undefined], [null], ['text'], [[]]])('is rejected with the spec %j', (spec) => {
    const cluster = startedCluster();
    cluster.put({ 'team-a/app': spec });

    expect(new Set(cluster.reasons('team-a/app'))).toEqual(new Set(['InvalidSpec']));
  });

  test('reports its MCP role and its public URL', () => {
    const cluster = startedCluster();
    const from = 'https://mcp.example.com:8443/';
    const mcp = { server: {} };
    cluster.put({ 'team-a/mcp': { from, to: 'http://up', prefix: '/a/', mcp } });

    expect(cluster.verdicts.get('team-a/mcp')).toMatchObject({
      mcpRole: 'server',
      url: 'https://mcp.example.com:8443/a',
    });
  });

  test('reports the paths that it serves without inspection', () => {
    const cluster = startedCluster();
    const from = 'https://mcp.example.com';
    const paths = ['/sse', '/files'];
    const subPaths = paths.map((path) => ({ path, inspected: path === '/sse' }));
    cluster.put({
      'team-a/mcp': { from, to: 'http://up', prefix: '/a/', mcp: { server: { subPaths } } },
      'team-a/other': { from, to: 'http://up', prefix: '/b', mcp: { server: {} } },
    });

    expect(cluster.verdicts.get('team-a/mcp')).toMatchObject({ uninspectedPaths: ['/a/files'] });
    expect(cluster.verdicts.get('team-a/other')).not.toHaveProperty('uninspectedPaths');
  });
});

describe('a route of another class', () => {
  test('does not serve, and does not keep its host from others', () => {
    const cluster = startedCluster();
    cluster.put({
      'team-a/other': publicSpec('https://a.example.com', { gatewayClassName: 'internal' }),
      'team-b/ours': publicSpec('https://a.example.com'),
    });

    expect([...cluster.verdicts.keys()]).toEqual(['team-b/ours']);
    expect(Object.keys(cluster.routes)).toEqual(['team-b/ours']);
  });

  test('is removed if it had our class before', () => {
    const cluster = startedCluster();
    cluster.put({ 'team-a/app': publicSpec('https://a.example.com') });
    const spec = publicSpec('https://a.example.com', { gatewayClassName: 'internal' });
    const { deleted, routes } = cluster.put({ 'team-a/app': spec });

    expect(deleted).toEqual(['route/team-a/app']);
    expect(routes).toEqual(new Map([['team-a/app', undefined]]));
  });
});
