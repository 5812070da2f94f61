import { describe, expect, test } from '@jest/globals';

import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { aRoute } from '../support/resources.ts';
import { requestObjects, type StoredObject } from './object-requests.ts';

const MERGE_PATCH = 'application/merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

describeWithClusters([], 'an API server', (openCluster) => {
  const api = requestObjects(openCluster);

  describe('the status', () => {
    test('is not changed by creating or replacing the object', async () => {
      const status = { url: 'https://evil.example.com' };
      const created = await api.request('POST', api.routes, {
        ...aRoute({}, { namespace: api.namespace }),
        status,
      });
      const replaced = await api.request('PUT', `${api.routes}/app`, { ...created, status });

      expect(created).not.toHaveProperty('status');
      expect(replaced).not.toHaveProperty('status');
    });

    test('is changed by replacing it, and nothing else is', async () => {
      const created = await api.createRoute();
      const replaced = await api.request('PUT', `${api.routes}/app/status`, {
        ...created,
        spec: { ...created.spec, prefix: '/other' },
        status: { url: 'https://app.example.com' },
      });

      expect(replaced.spec).toEqual(created.spec);
      expect(replaced.status).toEqual({ url: 'https://app.example.com' });
      expect(replaced.metadata.generation).toBe(1);
    });

    test('stays when the object changes', async () => {
      await api.createRoute();
      await api.patch(`${api.routes}/app/status`, { status: { mcpRole: 'server' } }, MERGE_PATCH);
      const changed = await api.patch(`${api.routes}/app`, { spec: { prefix: '/a' } }, MERGE_PATCH);

      expect(changed.status).toEqual({ mcpRole: 'server' });
    });

    test('is validated against its schema', async () => {
      await api.createRoute();

      await expect(
        api.patch(
          `${api.routes}/app/status`,
          { status: { programmedGeneration: -1 } },
          MERGE_PATCH,
        ),
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
    ): Promise<StoredObject> {
      const { apiVersion, kind } = aRoute();
      return await api.patch(
        `${api.routes}/app/status?fieldManager=${manager}&force=${String(force)}`,
        { apiVersion, kind, metadata: { name: 'app', namespace: api.namespace }, status },
        APPLY_PATCH,
      );
    }

    test('keeps the conditions of other managers, by type', async () => {
      await api.createRoute();
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
      await api.createRoute();
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
      await api.createRoute();
      await applyStatus('other', { mcpRole: 'server' });

      await expect(
        applyStatus('gatehouse', { mcpRole: 'none' }, { force: false }),
      ).rejects.toMatchObject({ code: 409, reason: 'Conflict' });
      expect(await applyStatus('gatehouse', { mcpRole: 'none' })).toMatchObject({
        status: { mcpRole: 'none' },
      });
    });

    test('changes nothing when it is repeated', async () => {
      await api.createRoute();
      const status = { mcpRole: 'server', conditions: [condition('Accepted', 'True')] };
      const once = await applyStatus('gatehouse', status);
      const twice = await applyStatus('gatehouse', status);

      expect(versionOf(twice)).toBe(versionOf(once));
    });

    test('does not touch the spec', async () => {
      const created = await api.createRoute();
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
      await api.createRoute();
      const conditions = [condition('Accepted', 'True'), condition('Accepted', 'False')];

      await expect(applyStatus('gatehouse', { conditions })).rejects.toThrow(/duplicate/i);
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

function versionOf({ metadata }: StoredObject): string {
  return metadata.resourceVersion;
}
