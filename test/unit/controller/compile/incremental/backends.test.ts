import { describe, expect, test } from '@jest/globals';

import type {
  EndpointSlice,
  ReferenceGrant,
  Service,
} from '../../../../../controller/kubernetes/objects.ts';
import type { CompilerCluster } from '../../../../support/compiler-cluster.ts';
import { startedCluster } from '../../../../support/compiler-cluster.ts';

const SERVICE = 'x/files';

function specWith(...backendRefs: readonly object[]): object {
  return { from: 'https://a.example.com', backendRefs, allowPublicUnauthenticatedAccess: true };
}

function service(port = 80, change: object = {}): Service {
  return { metadata: { name: 'files' }, spec: { ports: [{ name: 'web', port }], ...change } };
}

function slice(addresses: readonly string[], of = 'files'): EndpointSlice {
  return {
    metadata: { name: 'slice', labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
    ports: [{ name: 'web', port: 8000 }],
    endpoints: addresses.map((address) => ({ addresses: [address] })),
  };
}

function grant(from: string): ReferenceGrant {
  return {
    metadata: { name: 'grant' },
    spec: {
      from: [{ group: 'gatehouse.dev', kind: 'Route', namespace: from }],
      to: [{ group: '', kind: 'Service' }],
    },
  };
}

/** A cluster with a route that serves from a Service with one target. */
function started(): CompilerCluster {
  const cluster = startedCluster();
  cluster.change({
    services: new Map([[SERVICE, service()]]),
    endpointSlices: new Map([['x/slice', slice(['10.0.0.1'])]]),
  });
  cluster.put({ 'x/app': specWith({ name: 'files', port: 80 }) });
  return cluster;
}

function portsOf(cluster: CompilerCluster, name = SERVICE): unknown {
  const value = cluster.snapshot.get(`service/${name}`)?.value;
  return value?.kind === 'service' ? value.ports : undefined;
}

describe('a change of EndpointSlices', () => {
  test('compiles no route, and changes only the Service', () => {
    const cluster = started();
    const { compilations } = cluster;
    const { put, deleted, routes } = cluster.change({
      endpointSlices: new Map([['x/slice', slice(['10.0.0.2', '10.0.0.1'])]]),
    });

    expect(cluster.compilations).toBe(compilations);
    expect(put.map(({ key }) => key)).toEqual(['service/x/files']);
    expect([...deleted, ...routes]).toEqual([]);
    expect(portsOf(cluster)).toEqual([{ port: 80, targets: ['10.0.0.1:8000', '10.0.0.2:8000'] }]);
  });

  test('of a Service that no route uses changes nothing', () => {
    const cluster = started();
    const compilation = cluster.change({
      services: new Map([['x/other', service()]]),
      endpointSlices: new Map([['x/other-1', slice(['10.0.0.9'], 'other')]]),
    });

    expect(compilation).toEqual({ put: [], deleted: [], routes: new Map(), hosts: new Map() });
  });

  test('is applied if a slice moves to another Service or is deleted', () => {
    const cluster = started();
    cluster.change({ endpointSlices: new Map([['x/slice', slice(['10.0.0.1'], 'other')]]) });

    expect(portsOf(cluster)).toEqual([{ port: 80, targets: [] }]);

    cluster.change({ endpointSlices: new Map([['x/slice', slice(['10.0.0.1'])]]) });

    expect(portsOf(cluster)).toEqual([{ port: 80, targets: ['10.0.0.1:8000'] }]);

    cluster.change({ endpointSlices: new Map([['x/slice', undefined]]) });

    expect(portsOf(cluster)).toEqual([{ port: 80, targets: [] }]);
    expect(cluster.verdicts.get('x/app')).toMatchObject({ isAccepted: true, problems: [] });
  });
});

describe('a Service', () => {
  test('that is deleted and created again changes the route, which keeps serving', () => {
    const cluster = started();
    const { compilations } = cluster;
    cluster.change({ services: new Map([[SERVICE, undefined]]) });

    expect(cluster.routes['x/app']?.backends).toEqual([{ port: 80, weight: 1 }]);
    expect(cluster.snapshot.has('service/x/files')).toBe(false);
    expect(cluster.verdicts.get('x/app')).toMatchObject({
      isAccepted: true,
      problems: [{ path: 'spec.backendRefs[0]', reason: 'BackendNotFound' }],
      served: { generation: 1, hash: cluster.snapshot.get('route/x/app')?.hash },
    });

    cluster.change({ services: new Map([[SERVICE, service()]]) });

    expect(cluster.routes['x/app']?.backends).toEqual([{ service: SERVICE, port: 80, weight: 1 }]);
    expect(portsOf(cluster)).toEqual([{ port: 80, targets: ['10.0.0.1:8000'] }]);
    expect(cluster.verdicts.get('x/app')?.problems).toEqual([]);
    expect(cluster.compilations).toBe(compilations);
  });

  test('that loses the port is a problem of the route', () => {
    const cluster = started();
    cluster.change({ services: new Map([[SERVICE, service(81)]]) });

    expect(cluster.reasons('x/app')).toEqual(['BackendNotFound']);
    expect(cluster.snapshot.has('service/x/files')).toBe(false);
  });

  test('is in the snapshot while routes use it, with the ports that they use', () => {
    const cluster = started();
    const ports = [{ port: 80 }, { name: 'more', port: 81 }];
    cluster.change({ services: new Map([[SERVICE, service(80, { ports })]]) });
    cluster.put({ 'x/more': { ...specWith({ name: 'files', port: 81 }), prefix: '/more' } });

    expect(portsOf(cluster)).toMatchObject([{ port: 80 }, { port: 81 }]);

    cluster.delete('x/app');

    expect(portsOf(cluster)).toMatchObject([{ port: 81 }]);

    cluster.put({ 'x/more': { ...specWith({ name: 'files', port: 82 }), prefix: '/more' } });

    expect(cluster.snapshot.has('service/x/files')).toBe(false);
  });

  test('of type ExternalName leads to the external name', () => {
    const cluster = started();
    const spec = { type: 'ExternalName', externalName: 'files.example.net' };
    cluster.change({ services: new Map([[SERVICE, { metadata: { name: 'files' }, spec }]]) });

    expect(portsOf(cluster)).toEqual([{ port: 80, targets: ['files.example.net:80'] }]);
  });

  test('stays in use if the route changes to something invalid', () => {
    const cluster = started();
    cluster.put({ 'x/app': { ...specWith({ name: 'other', port: 80 }), regex: '(?=a)' } });
    cluster.change({ endpointSlices: new Map([['x/slice', slice(['10.0.0.7'])]]) });

    expect(portsOf(cluster)).toEqual([{ port: 80, targets: ['10.0.0.7:8000'] }]);
    expect(cluster.reasons('x/app')).toEqual(['InvalidRegex', 'BackendNotFound']);
  });
});

describe('a Service of another namespace', () => {
  function foreign(): CompilerCluster {
    const cluster = started();
    cluster.put({
      'y/app': {
        ...specWith({ name: 'files', namespace: 'x', port: 80 }),
        from: 'https://b.example.com',
      },
    });
    return cluster;
  }

  test('is used while a ReferenceGrant permits it', () => {
    const cluster = foreign();

    expect(cluster.reasons('y/app')).toEqual(['RefNotPermitted']);
    expect(cluster.routes['y/app']?.backends).toEqual([{ port: 80, weight: 1 }]);

    cluster.change({ referenceGrants: new Map([['x/grant', grant('y')]]) });

    expect(cluster.reasons('y/app')).toEqual([]);
    expect(cluster.routes['y/app']?.backends).toEqual([{ service: SERVICE, port: 80, weight: 1 }]);

    cluster.change({ referenceGrants: new Map([['x/grant', undefined]]) });

    expect(cluster.reasons('y/app')).toEqual(['RefNotPermitted']);
    expect(cluster.routes['y/app']?.backends).toEqual([{ port: 80, weight: 1 }]);
  });

  test.each([
    ['of its own namespace', 'y/grant', grant('y')],
    ['for another namespace', 'x/grant', grant('z')],
    ['that says nothing', 'x/grant', { metadata: { name: 'grant' } }],
  ])('is not permitted by a grant %s', (_what, name, given) => {
    const cluster = foreign();
    cluster.change({ referenceGrants: new Map([[name, given]]) });

    expect(cluster.reasons('y/app')).toEqual(['RefNotPermitted']);
  });

  // Attack: the problem must not reveal which Services other namespaces have.
  test('causes the same problem whether it exists or not', () => {
    const cluster = foreign();
    const before = cluster.verdicts.get('y/app')?.problems;
    cluster.change({ services: new Map([[SERVICE, undefined]]) });

    expect(cluster.verdicts.get('y/app')?.problems).toEqual(before);
  });
});
