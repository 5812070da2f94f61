import { describe, expect, test } from '@jest/globals';

import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { leasesIn, routesIn } from '../support/kubernetes/paths.ts';
import { aRoute } from '../support/resources.ts';
import { requestObjects, type StoredObject } from './object-requests.ts';

const MERGE_PATCH = 'application/merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

describeWithClusters([], 'an API server', (openCluster) => {
  const api = requestObjects(openCluster);

  describe('creating', () => {
    test('makes an object once', async () => {
      await api.createRoute();

      await expect(api.createRoute()).rejects.toMatchObject({ code: 409, reason: 'AlreadyExists' });
    });

    test('generates names', async () => {
      const metadata = { generateName: 'app-', namespace: api.namespace };
      const created = [
        await api.request('POST', api.routes, { ...aRoute(), metadata }),
        await api.request('POST', api.routes, { ...aRoute(), metadata }),
      ];
      const names = created.map(({ metadata: { name } }) => name);

      expect(names[0]).toMatch(/^app-[a-z0-9]{5,}$/);
      expect(names[1]).not.toBe(names[0]);
    });

    test('rejects an invalid name', async () => {
      await expect(api.createRoute('My_App')).rejects.toMatchObject({
        code: 422,
        reason: 'Invalid',
      });
    });

    test('fails in a namespace that does not exist', async () => {
      const missing = aRoute({}, { namespace: 'gatehouse-test-missing' });

      await expect(
        api.request('POST', routesIn('gatehouse-test-missing'), missing),
      ).rejects.toMatchObject({ code: 404, reason: 'NotFound' });
    });

    test('stores what its creator sent, with a version', async () => {
      const { metadata } = await api.createRoute();

      expect(metadata).toMatchObject({
        name: 'app',
        namespace: api.namespace,
        generation: 1,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as unknown,
      });
      expect(await api.request('GET', `${api.routes}/app`)).toMatchObject({ metadata });
    });
  });

  describe('updating', () => {
    test('rejects an object that is older than the stored one', async () => {
      const old = await api.createRoute();
      await api.request('PUT', `${api.routes}/app`, {
        ...old,
        spec: { ...old.spec, prefix: '/new' },
      });
      const late = { ...old, spec: { ...old.spec, prefix: '/late' } };

      await expect(api.request('PUT', `${api.routes}/app`, late)).rejects.toMatchObject({
        code: 409,
        reason: 'Conflict',
      });
    });

    test('rejects an object without a version', async () => {
      await api.createRoute();

      await expect(
        api.request('PUT', `${api.routes}/app`, aRoute({}, { namespace: api.namespace })),
      ).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
    });

    test('fails for an object that was deleted', async () => {
      const old = await api.createRoute();
      await api.request('DELETE', `${api.routes}/app`);

      await expect(api.request('PUT', `${api.routes}/app`, old)).rejects.toMatchObject({
        code: 404,
        reason: 'NotFound',
      });
      await expect(api.request('GET', `${api.routes}/app`)).rejects.toMatchObject({
        reason: 'NotFound',
      });
    });

    test('conflicts for a deleted object of a resource that is created by updating', async () => {
      const leases = leasesIn(api.namespace);
      const old = await api.request('POST', leases, { metadata: { name: 'leader' } });
      await api.request('DELETE', `${leases}/leader`);

      await expect(api.request('PUT', `${leases}/leader`, old)).rejects.toMatchObject({
        code: 409,
        reason: 'Conflict',
      });
    });

    test('raises the generation with the spec only', async () => {
      const created = await api.createRoute();
      const labelled = await api.patch(
        `${api.routes}/app`,
        { metadata: { labels: { team: 'a' } } },
        MERGE_PATCH,
      );
      const withStatus = await api.patch(
        `${api.routes}/app/status`,
        { status: { url: 'https://app.example.com' } },
        MERGE_PATCH,
      );
      const changed = await api.patch(`${api.routes}/app`, { spec: { prefix: '/a' } }, MERGE_PATCH);

      expect(
        [created, labelled, withStatus, changed].map(({ metadata }) => metadata.generation),
      ).toEqual([1, 1, 1, 2]);
      expect(new Set([created, labelled, withStatus, changed].map(versionOf)).size).toBe(4);
    });

    test('changes no version if nothing differs', async () => {
      const created = await api.createRoute();
      const same = await api.request('PUT', `${api.routes}/app`, created);

      expect(versionOf(same)).toBe(versionOf(created));
    });

    test('marks an object with finalizers as being deleted', async () => {
      const finalizers = ['example.com/hold'];
      const held = aRoute({}, { namespace: api.namespace, finalizers } as object);
      await api.request('POST', api.routes, held);
      await api.request('DELETE', `${api.routes}/app`);
      const deleting = await api.request('GET', `${api.routes}/app`);
      await api.patch(`${api.routes}/app`, { metadata: { finalizers: null } }, MERGE_PATCH);

      expect(deleting.metadata.deletionTimestamp).toMatch(/Z$/);
      await expect(api.request('GET', `${api.routes}/app`)).rejects.toMatchObject({ code: 404 });
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
      await api.createRoute();

      await expect(api.patch(`${api.routes}/app`, body, contentType)).rejects.toMatchObject({
        code,
      });
    });

    test('by merge removes members that are null', async () => {
      await api.createRoute();
      await api.patch(`${api.routes}/app`, { spec: { prefix: '/a' } }, MERGE_PATCH);
      const { spec } = await api.patch(
        `${api.routes}/app`,
        { spec: { prefix: null } },
        MERGE_PATCH,
      );

      expect(spec).not.toHaveProperty('prefix');
    });
  });
});

function versionOf({ metadata }: StoredObject): string {
  return metadata.resourceVersion;
}
