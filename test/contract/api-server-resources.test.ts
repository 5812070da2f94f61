import { describe, expect, test } from '@jest/globals';

import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { coreIn, leasesIn } from '../support/kubernetes/paths.ts';
import { routeWith } from '../support/manifests/manifest-with.ts';
import { aRoute } from '../support/resources.ts';
import { requestObjects, type StoredObject } from './object-requests.ts';

const MERGE_PATCH = 'application/merge-patch+json';

describeWithClusters([], 'an API server', (openCluster) => {
  const api = requestObjects(openCluster);

  describe('a resource', () => {
    /** Creates a Route with this in its spec. */
    async function createWith(yaml: string, query = ''): Promise<StoredObject> {
      const manifest = { ...routeWith(yaml), metadata: { name: 'app', namespace: api.namespace } };
      return await api.request('POST', `${api.routes}${query}`, manifest);
    }

    test('has the default gateway class, unless it names another', async () => {
      const { spec } = await createWith('{}');
      await api.request('DELETE', `${api.routes}/app`);

      expect(spec['gatewayClassName']).toBe('gatehouse');
      expect((await createWith('gatewayClassName: blue')).spec['gatewayClassName']).toBe('blue');
    });

    test('loses unknown fields, wherever they are', async () => {
      const { spec } = await createWith(`{
        surprise: 1, mcp: { server: { path: /mcp, client: {} } },
        backendRefs: [{ name: app, port: 80, wieght: 1 }]
      }`);

      expect(spec).toEqual({
        from: 'https://app.example.com',
        gatewayClassName: 'gatehouse',
        mcp: { server: { path: '/mcp' } },
        backendRefs: [{ name: 'app', port: 80 }],
      });
    });

    test('keeps unknown fields of its policy', async () => {
      const policy = { deny: { nand: [{ a: 1 }], or: [{ emial: { is: ['x'] } }] }, dney: {} };
      const { spec } = await createWith(`policy: ${JSON.stringify(policy)}`);

      expect(spec['policy']).toEqual(policy);
    });

    test('keeps the empty object that makes it an MCP server', async () => {
      const created = await createWith('mcp: { server: {} }');
      const merged = await api.patch(`${api.routes}/app`, { spec: { prefix: '/a' } }, MERGE_PATCH);
      await api.apply(
        JSON.stringify({
          ...routeWith('mcp: { server: {} }'),
          metadata: { name: 'applied', namespace: api.namespace },
        }),
      );
      const applied = await api.request('GET', `${api.routes}/applied`);

      expect([created, merged, applied].map(({ spec }) => spec['mcp'])).toEqual([
        { server: {} },
        { server: {} },
        { server: {} },
      ]);
    });

    test('that violates its schema is rejected with every place', async () => {
      const broken = createWith('{ prefix: a, mcp: { server: { maxRequestBytes: 0 } } }');

      await expect(broken).rejects.toMatchObject({
        code: 422,
        reason: 'Invalid',
        status: {
          details: {
            causes: expect.arrayContaining([
              expect.objectContaining({ field: 'spec.prefix' }),
              expect.objectContaining({ field: 'spec.mcp.server.maxRequestBytes' }),
            ]) as unknown,
          },
        },
      });
    });

    test('of a version that is not served is not found', async () => {
      await expect(api.request('GET', api.routes.replace('v1alpha1', 'v1'))).rejects.toMatchObject({
        code: 404,
      });
    });
  });

  describe('a Lease', () => {
    async function createLease(renewTime: string): Promise<StoredObject> {
      return await api.request('POST', leasesIn(api.namespace), {
        metadata: { name: 'leader' },
        spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime },
      });
    }

    test.each([
      ['three', '2026-01-02T03:04:05.678Z'],
      ['no', '2026-01-02T03:04:05Z'],
      ['nine', '2026-01-02T03:04:05.123456789Z'],
    ])('with a time of %s fractional digits is rejected', async (_digits, renewTime) => {
      await expect(createLease(renewTime)).rejects.toMatchObject({ code: 400 });
    });

    test('keeps its microseconds', async () => {
      await createLease('2026-01-02T03:04:05.678901Z');

      expect(await api.request('GET', `${leasesIn(api.namespace)}/leader`)).toMatchObject({
        spec: { holderIdentity: 'a', renewTime: '2026-01-02T03:04:05.678901Z' },
      });
    });

    test('goes to the first of two candidates that acquire it', async () => {
      const lease = await createLease('2026-01-02T03:04:05.000000Z');
      const path = `${leasesIn(api.namespace)}/leader`;
      const takenBy = (holderIdentity: string): object => ({
        ...lease,
        spec: { ...lease.spec, holderIdentity },
      });
      await api.request('PUT', path, takenBy('b'));

      await expect(api.request('PUT', path, takenBy('c'))).rejects.toMatchObject({
        code: 409,
        reason: 'Conflict',
      });
      expect(await api.request('GET', path)).toMatchObject({ spec: { holderIdentity: 'b' } });
    });
  });

  describe('an Event', () => {
    const event = (about: string): object => ({
      metadata: { generateName: 'app.' },
      involvedObject: {
        apiVersion: aRoute().apiVersion,
        kind: 'Route',
        namespace: about,
        name: 'app',
      },
      reason: 'HostConflict',
      message: 'the host is taken',
      type: 'Warning',
      firstTimestamp: '2026-01-02T03:04:05Z',
      lastTimestamp: '2026-01-02T03:04:05Z',
      count: 1,
      source: { component: 'gatehouse-controller' },
    });

    test('must be about an object of its namespace', async () => {
      const created = await api.request(
        'POST',
        coreIn(api.namespace, 'events'),
        event(api.namespace),
      );

      expect(created.metadata.name).toMatch(/^app\./);
      await expect(
        api.request('POST', coreIn(api.namespace, 'events'), event('default')),
      ).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
    });
  });

  describe('a Secret', () => {
    test('holds base64 of text that was sent as stringData', async () => {
      const path = coreIn(api.namespace, 'secrets');
      await api.request('POST', path, { metadata: { name: 'keys' }, stringData: { a: 'one' } });

      expect(await api.request('GET', `${path}/keys`)).toMatchObject({
        type: 'Opaque',
        data: { a: 'b25l' },
      });
      expect(await api.request('GET', `${path}/keys`)).not.toHaveProperty('stringData');
      await expect(
        api.request('POST', path, { metadata: { name: 'bad' }, data: { a: 'no base64!' } }),
      ).rejects.toMatchObject({ code: 400 });
    });
  });
});
