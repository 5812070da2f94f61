import { beforeEach, describe, expect, test } from '@jest/globals';

import type { AdminClient } from '../support/kubernetes/cluster.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { coreIn, leasesIn, routesIn } from '../support/kubernetes/paths.ts';
import { routeWith } from '../support/manifests/manifest-with.ts';
import { openForAll } from '../support/open-for-all.ts';
import { aRoute } from '../support/resources.ts';

/** The members of a stored object that these tests read. */
interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly deletionTimestamp?: string;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

const MERGE_PATCH = 'application/merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

describeWithClusters([], 'an API server', (openCluster) => {
  const cluster = openForAll(openCluster);
  let namespace: string;
  let routes: string;

  beforeEach(async () => {
    namespace = await createNamespace(cluster());
    routes = routesIn(namespace);
  });

  // Every successful response is the object, except that of a deletion.
  const request = async (...asked: Parameters<AdminClient['request']>): Promise<Stored> =>
    (await cluster().admin.request(...asked)) as Stored;

  async function createRoute(name = 'app'): Promise<Stored> {
    return await request('POST', routes, aRoute({}, { name, namespace }));
  }

  async function patch(path: string, body: unknown, contentType: string): Promise<Stored> {
    return await request('PATCH', path, body, { 'content-type': contentType });
  }

  describe('creating', () => {
    test('makes an object once', async () => {
      await createRoute();

      await expect(createRoute()).rejects.toMatchObject({ code: 409, reason: 'AlreadyExists' });
    });

    test('generates names', async () => {
      const metadata = { generateName: 'app-', namespace };
      const created = [
        await request('POST', routes, { ...aRoute(), metadata }),
        await request('POST', routes, { ...aRoute(), metadata }),
      ];
      const names = created.map(({ metadata: { name } }) => name);

      expect(names[0]).toMatch(/^app-[a-z0-9]{5,}$/);
      expect(names[1]).not.toBe(names[0]);
    });

    test('rejects an invalid name', async () => {
      await expect(createRoute('My_App')).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
    });

    test('fails in a namespace that does not exist', async () => {
      const missing = aRoute({}, { namespace: 'gatehouse-test-missing' });

      await expect(
        request('POST', routesIn('gatehouse-test-missing'), missing),
      ).rejects.toMatchObject({ code: 404, reason: 'NotFound' });
    });

    test('stores what its creator sent, with a version', async () => {
      const { metadata } = await createRoute();

      expect(metadata).toMatchObject({
        name: 'app',
        namespace,
        generation: 1,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as unknown,
      });
      expect(await request('GET', `${routes}/app`)).toMatchObject({ metadata });
    });
  });

  describe('updating', () => {
    test('rejects an object that is older than the stored one', async () => {
      const old = await createRoute();
      await request('PUT', `${routes}/app`, { ...old, spec: { ...old.spec, prefix: '/new' } });
      const late = { ...old, spec: { ...old.spec, prefix: '/late' } };

      await expect(request('PUT', `${routes}/app`, late)).rejects.toMatchObject({
        code: 409,
        reason: 'Conflict',
      });
    });

    test('rejects an object without a version', async () => {
      await createRoute();

      await expect(
        request('PUT', `${routes}/app`, aRoute({}, { namespace })),
      ).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
    });

    test('fails for an object that was deleted', async () => {
      const old = await createRoute();
      await request('DELETE', `${routes}/app`);
      const withoutUid = { ...old, metadata: { ...old.metadata, uid: undefined } };

      await expect(request('PUT', `${routes}/app`, old)).rejects.toMatchObject({
        code: 409,
        reason: 'Conflict',
      });
      await expect(request('PUT', `${routes}/app`, withoutUid)).rejects.toMatchObject({
        code: 404,
        reason: 'NotFound',
      });
      await expect(request('GET', `${routes}/app`)).rejects.toMatchObject({ reason: 'NotFound' });
    });

    test('raises the generation with the spec only', async () => {
      const created = await createRoute();
      const labelled = await patch(
        `${routes}/app`,
        { metadata: { labels: { team: 'a' } } },
        MERGE_PATCH,
      );
      const withStatus = await patch(
        `${routes}/app/status`,
        { status: { url: 'https://app.example.com' } },
        MERGE_PATCH,
      );
      const changed = await patch(`${routes}/app`, { spec: { prefix: '/a' } }, MERGE_PATCH);

      expect(
        [created, labelled, withStatus, changed].map(({ metadata }) => metadata.generation),
      ).toEqual([1, 1, 1, 2]);
      expect(new Set([created, labelled, withStatus, changed].map(versionOf)).size).toBe(4);
    });

    test('changes no version if nothing differs', async () => {
      const created = await createRoute();
      const same = await request('PUT', `${routes}/app`, created);

      expect(versionOf(same)).toBe(versionOf(created));
    });

    test('marks an object with finalizers as being deleted', async () => {
      const finalizers = ['example.com/hold'];
      const held = aRoute({}, { namespace, finalizers } as object);
      await request('POST', routes, held);
      await request('DELETE', `${routes}/app`);
      const deleting = await request('GET', `${routes}/app`);
      await patch(`${routes}/app`, { metadata: { finalizers: null } }, MERGE_PATCH);

      expect(deleting.metadata.deletionTimestamp).toMatch(/Z$/);
      await expect(request('GET', `${routes}/app`)).rejects.toMatchObject({ code: 404 });
    });
  });

  describe('patching', () => {
    test.each([
      ['an unknown content type', 'text/plain', {}, 415],
      [
        'a strategic merge patch of a custom resource',
        'application/strategic-merge-patch+json',
        {},
        415,
      ],
      ['a JSON Patch that is not a list', 'application/json-patch+json', { spec: {} }, 400],
      ['an apply without a field manager', APPLY_PATCH, aRoute(), 422],
    ])('refuses %s', async (_case, contentType, body, code) => {
      await createRoute();

      await expect(patch(`${routes}/app`, body, contentType)).rejects.toMatchObject({ code });
    });

    test('by merge removes members that are null', async () => {
      await createRoute();
      await patch(`${routes}/app`, { spec: { prefix: '/a' } }, MERGE_PATCH);
      const { spec } = await patch(`${routes}/app`, { spec: { prefix: null } }, MERGE_PATCH);

      expect(spec).not.toHaveProperty('prefix');
    });
  });

  describe('the status', () => {
    test('is not changed by creating or replacing the object', async () => {
      const status = { url: 'https://evil.example.com' };
      const created = await request('POST', routes, { ...aRoute({}, { namespace }), status });
      const replaced = await request('PUT', `${routes}/app`, { ...created, status });

      expect(created).not.toHaveProperty('status');
      expect(replaced).not.toHaveProperty('status');
    });

    test('is changed by replacing it, and nothing else is', async () => {
      const created = await createRoute();
      const replaced = await request('PUT', `${routes}/app/status`, {
        ...created,
        spec: { ...created.spec, prefix: '/other' },
        status: { url: 'https://app.example.com' },
      });

      expect(replaced.spec).toEqual(created.spec);
      expect(replaced.status).toEqual({ url: 'https://app.example.com' });
      expect(replaced.metadata.generation).toBe(1);
    });

    test('stays when the object changes', async () => {
      await createRoute();
      await patch(`${routes}/app/status`, { status: { mcpRole: 'server' } }, MERGE_PATCH);
      const changed = await patch(`${routes}/app`, { spec: { prefix: '/a' } }, MERGE_PATCH);

      expect(changed.status).toEqual({ mcpRole: 'server' });
    });

    test('is validated against its schema', async () => {
      await createRoute();

      await expect(
        patch(`${routes}/app/status`, { status: { programmedGeneration: -1 } }, MERGE_PATCH),
      ).rejects.toMatchObject({
        code: 422,
        status: {
          details: {
            causes: expect.arrayContaining([
              expect.objectContaining({ field: 'status.programmedGeneration' }),
            ]) as unknown,
          },
        },
      });
    });
  });

  describe('server-side apply of a status', () => {
    /** Applies as a field manager, forced unless the test says otherwise. */
    async function applyStatus(
      manager: string,
      status: object,
      { force = true } = {},
    ): Promise<Stored> {
      const { apiVersion, kind } = aRoute();
      return await patch(
        `${routes}/app/status?fieldManager=${manager}&force=${String(force)}`,
        { apiVersion, kind, metadata: { name: 'app', namespace }, status },
        APPLY_PATCH,
      );
    }

    test('keeps the conditions of other managers, by type', async () => {
      await createRoute();
      await applyStatus('other', { conditions: [condition('Accepted', 'True')] });
      await applyStatus('gatehouse', { conditions: [condition('Programmed', 'False')] });
      const { status } = await applyStatus('gatehouse', {
        conditions: [condition('Programmed', 'True')],
      });

      expect(status).toEqual({
        conditions: [condition('Accepted', 'True'), condition('Programmed', 'True')],
      });
    });

    test('removes what its manager left out', async () => {
      await createRoute();
      await applyStatus('gatehouse', {
        mcpRole: 'server',
        url: 'https://app.example.com',
        served: { generation: 1, spec: { from: 'https://a.example.com', to: 'http://a' } },
        conditions: [condition('Accepted', 'False'), condition('PartiallyInvalid', 'True')],
      });
      const { status } = await applyStatus('gatehouse', {
        mcpRole: 'server',
        conditions: [condition('Accepted', 'True')],
      });

      expect(status).toEqual({ mcpRole: 'server', conditions: [condition('Accepted', 'True')] });
    });

    test('does not change what others own, unless it is forced', async () => {
      await createRoute();
      await applyStatus('other', { mcpRole: 'server' });

      await expect(
        applyStatus('gatehouse', { mcpRole: 'none' }, { force: false }),
      ).rejects.toMatchObject({ code: 409, reason: 'Conflict' });
      expect(await applyStatus('gatehouse', { mcpRole: 'none' })).toMatchObject({
        status: { mcpRole: 'none' },
      });
    });

    test('changes nothing when it is repeated', async () => {
      await createRoute();
      const status = { mcpRole: 'server', conditions: [condition('Accepted', 'True')] };
      const once = await applyStatus('gatehouse', status);
      const twice = await applyStatus('gatehouse', status);

      expect(versionOf(twice)).toBe(versionOf(once));
    });

    test('does not touch the spec', async () => {
      const created = await createRoute();
      const { metadata, spec } = await applyStatus('gatehouse', { mcpRole: 'server' });

      expect(spec).toEqual(created.spec);
      expect(metadata.generation).toBe(1);
    });

    test('does not create an object', async () => {
      await expect(applyStatus('gatehouse', { mcpRole: 'server' })).rejects.toMatchObject({
        code: 404,
        reason: 'NotFound',
      });
    });

    test('rejects two conditions of one type', async () => {
      await createRoute();
      const conditions = [condition('Accepted', 'True'), condition('Accepted', 'False')];

      await expect(applyStatus('gatehouse', { conditions })).rejects.toThrow(/duplicate/i);
    });
  });

  describe('a resource', () => {
    /** Creates a Route with this in its spec. */
    async function createWith(yaml: string, query = ''): Promise<Stored> {
      const manifest = { ...routeWith(yaml), metadata: { name: 'app', namespace } };
      return await request('POST', `${routes}${query}`, manifest);
    }

    test('has the default gateway class, unless it names another', async () => {
      const { spec } = await createWith('{}');
      await request('DELETE', `${routes}/app`);

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
      const merged = await patch(`${routes}/app`, { spec: { prefix: '/a' } }, MERGE_PATCH);
      await cluster().admin.apply(
        JSON.stringify({
          ...routeWith('mcp: { server: {} }'),
          metadata: { name: 'applied', namespace },
        }),
      );
      const applied = await request('GET', `${routes}/applied`);

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
      await expect(request('GET', routes.replace('v1alpha1', 'v1'))).rejects.toMatchObject({
        code: 404,
      });
    });
  });

  describe('a Lease', () => {
    async function createLease(renewTime: string): Promise<Stored> {
      return await request('POST', leasesIn(namespace), {
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

      expect(await request('GET', `${leasesIn(namespace)}/leader`)).toMatchObject({
        spec: { holderIdentity: 'a', renewTime: '2026-01-02T03:04:05.678901Z' },
      });
    });

    test('goes to the first of two candidates that acquire it', async () => {
      const lease = await createLease('2026-01-02T03:04:05.000000Z');
      const path = `${leasesIn(namespace)}/leader`;
      const takenBy = (holderIdentity: string): object => ({
        ...lease,
        spec: { ...lease.spec, holderIdentity },
      });
      await request('PUT', path, takenBy('b'));

      await expect(request('PUT', path, takenBy('c'))).rejects.toMatchObject({
        code: 409,
        reason: 'Conflict',
      });
      expect(await request('GET', path)).toMatchObject({ spec: { holderIdentity: 'b' } });
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
      const created = await request('POST', coreIn(namespace, 'events'), event(namespace));

      expect(created.metadata.name).toMatch(/^app\./);
      await expect(
        request('POST', coreIn(namespace, 'events'), event('default')),
      ).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
    });
  });

  describe('a Secret', () => {
    test('holds base64 of text that was sent as stringData', async () => {
      const path = coreIn(namespace, 'secrets');
      await request('POST', path, { metadata: { name: 'keys' }, stringData: { a: 'one' } });

      expect(await request('GET', `${path}/keys`)).toMatchObject({
        type: 'Opaque',
        data: { a: 'b25l' },
      });
      expect(await request('GET', `${path}/keys`)).not.toHaveProperty('stringData');
      await expect(
        request('POST', path, { metadata: { name: 'bad' }, data: { a: 'no base64!' } }),
      ).rejects.toMatchObject({ code: 400 });
    });
  });
});

function condition(type: string, status: string): object {
  const lastTransitionTime = '2026-01-02T03:04:05Z';
  return {
    type,
    status,
    reason: 'Tested',
    message: 'It was tested.',
    observedGeneration: 1,
    lastTransitionTime,
  };
}

function versionOf({ metadata }: Stored): string {
  return metadata.resourceVersion;
}
