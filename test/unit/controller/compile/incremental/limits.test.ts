import { describe, expect, test } from '@jest/globals';

import {
  publicSpec,
  startedCluster,
  type CompilerCluster,
  withStatus,
} from '../../../../support/compiler-cluster.ts';

const A = 'https://a.example.com';
const MEBIBYTE = 1_048_576;

/** A Service with many ports and targets, used by one route. */
function withService(portCount: number, sliceCount: number): CompilerCluster {
  const cluster = startedCluster();
  const ports = Array.from({ length: portCount }, (_value, index) => ({
    name: `p${String(index)}`,
    port: 8000 + index,
  }));
  const slices = Array.from({ length: sliceCount }, (_value, slice) => ({
    metadata: { name: `s${String(slice)}`, labels: { 'kubernetes.io/service-name': 'big' } },
    addressType: 'IPv4',
    ports,
    endpoints: Array.from({ length: 1_000 }, (_other, index) => ({
      addresses: [`10.${String(slice)}.${String(index >> 8)}.${String(index & 255)}`],
    })),
  }));
  cluster.change({
    services: new Map([['x/big', { metadata: { name: 'big' }, spec: { ports } }]]),
    endpointSlices: new Map(slices.map((slice) => [`x/${slice.metadata.name}`, slice])),
  });
  const backendRefs = ports.map(({ port }) => ({ name: 'big', port }));
  cluster.put({ 'x/app': { from: A, backendRefs, allowPublicUnauthenticatedAccess: true } });
  return cluster;
}

function endpointCounts(cluster: CompilerCluster): readonly number[] {
  const value = cluster.snapshot.get('service/x/big')?.value;
  return value?.kind === 'service' ? value.ports.map(({ targets }) => targets.length) : [];
}

describe('a Service', () => {
  // Attack: a resource that is too long for the push protocol would end the stream of every proxy.
  test('is cut to what proxies accept, and its routes report that', () => {
    const cluster = withService(10, 3);

    expect(endpointCounts(cluster)).toEqual([
      ...Array.from({ length: 8 }, () => 2_000),
      ...Array.from({ length: 2 }, () => 0),
    ]);
    expect(cluster.verdicts.get('x/app')).toMatchObject({ isAccepted: true });
    expect(cluster.verdicts.get('x/app')?.problems[0]?.message).toContain('larger than');
  });

  test('is cut to the same targets, whatever their order', () => {
    const cluster = withService(1, 3);
    const before = cluster.snapshot.get('service/x/big');
    cluster.takeOver();

    expect(cluster.snapshot.get('service/x/big')).toEqual(before);
  });

  test('is complete again once it is small enough', () => {
    const cluster = withService(1, 3);
    cluster.change({ endpointSlices: new Map([['x/s2', undefined]]) });

    expect(endpointCounts(cluster)).toEqual([2_000]);
    expect(cluster.reasons('x/app')).toEqual([]);
  });
});

describe('a route', () => {
  test('that compiles to too much is rejected, and the generation before serves', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/app': publicSpec(A) });
    const policy = { allow: { or: [{ email: { in: ['x'.repeat(MEBIBYTE)] } }] } };
    cluster.put({ 'x/app': { from: A, to: 'http://up', policy } });

    expect(cluster.reasons('x/app')).toEqual(['UnsupportedValue']);
    expect(cluster.routes['x/app']).toMatchObject({ access: { kind: 'public' } });
  });

  test.each([
    ['of its policy', (members: object) => ({ allow: members })],
    ['of a matcher', (members: object) => ({ allow: { or: [{ email: members }] } })],
  ])('with very many unknown members %s gets few problems', (_what, policyOf) => {
    const names = Array.from({ length: 150_000 }, (_value, index) => [`k${String(index)}`, 1]);
    const cluster = startedCluster();
    const policy = policyOf(Object.fromEntries(names) as object);
    cluster.put({ 'x/app': { from: A, to: 'http://up', policy } });

    expect(cluster.reasons('x/app')).toEqual(['InvalidPolicy']);
  });

  test('with very long names gets short messages', () => {
    const cluster = startedCluster();
    cluster.put({ 'x/app': publicSpec(A, { [`fro${'m'.repeat(500_000)}`]: 1 }) });

    expect(JSON.stringify(cluster.verdicts.get('x/app')?.problems).length).toBeLessThan(500);
  });

  test('gets a limited number of problems', () => {
    const cluster = startedCluster();
    const or = Array.from({ length: 64 }, () => ({ emial: 'x' }));
    cluster.put({ 'x/app': { from: A, to: 'http://up', policy: { allow: { or } } } });

    expect(cluster.reasons('x/app')).toHaveLength(20);
  });
});

describe('a route that the compiler fails on', () => {
  test('is rejected with a problem without its values, and the others are compiled', () => {
    const cluster = startedCluster();
    const spec = {
      ...publicSpec(A),
      get to(): string {
        throw new RangeError('a value of the spec');
      },
    };
    cluster.put({ 'x/bad': spec, 'x/good': publicSpec('https://b.example.com') });

    expect(Object.keys(cluster.routes)).toEqual(['x/good']);
    expect(cluster.verdicts.get('x/bad')?.problems).toEqual([
      { path: 'spec', reason: 'InvalidSpec', message: 'cannot be compiled: RangeError' },
    ]);
  });

  test.each([
    [null],
    [{ served: null, url: null }],
    [{ served: { generation: 'x', spec: null }, url: 5 }],
    [{ served: { generation: 0, spec: null } }],
    [{ served: [] }],
  ])('is not caused by the stored status %j', (status) => {
    const cluster = startedCluster();
    cluster.put({ 'x/app': publicSpec(A) });
    cluster.takeOver((route) => withStatus(route, status));

    expect(Object.keys(cluster.routes)).toEqual(['x/app']);
  });
});
