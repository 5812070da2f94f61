import { describe, expect, it } from '@jest/globals';

import type { Changes } from '../../../../controller/compile/compilation.ts';
import type { KubernetesObject } from '../../../../controller/kubernetes/objects.ts';
import type { StatusChange } from '../../../../controller/watch/status-change.ts';
import { settle } from '../../../support/manual-clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { answerStatus } from '../../../support/kubernetes/scripted-api-server.ts';
import {
  GATEHOUSE,
  GRANTS,
  ROUTES,
  SERVICES,
  SETTINGS,
  SLICES,
  batches,
  begin,
  expectBatch,
  keysOf,
  logger,
  putRoute,
  released,
  requestsFor,
  server,
} from './cluster-watch-world.ts';

describe('the first changes of a cluster watch', () => {
  it('hold everything there is', async () => {
    putRoute('files');
    server.put(SETTINGS, { metadata: { name: 'gatehouse', namespace: 'gatehouse' } });
    server.put(SETTINGS, { metadata: { name: 'other', namespace: 'gatehouse' } });
    server.put(SERVICES, { metadata: { name: 'files', namespace: 'apps' } });
    server.put(SLICES, { metadata: { name: 'files-1', namespace: 'apps' } });
    server.put(GRANTS, { metadata: { name: 'grant', namespace: 'apps' } });
    begin();
    const first = await expectBatch(1, 5);
    expect(keysOf(first.routes)).toEqual(['apps/files']);
    expect(first.settings).toMatchObject({ metadata: { name: 'gatehouse' } });
    expect(keysOf(first.services)).toEqual(['apps/files']);
    expect(keysOf(first.endpointSlices)).toEqual(['apps/files-1']);
    expect(keysOf(first.referenceGrants)).toEqual(['apps/grant']);
    expect(first.secrets?.size).toBe(0);
    expect(first.namespaces?.size).toBe(0);
  });

  it('arrive when the cluster is empty, too', async () => {
    begin();
    const first = await expectBatch(1);
    expect(first.settings).toBeNull();
    expect(first.routes?.size).toBe(0);
  });

  it.each([
    ['services', 503],
    ['endpointslices', 403],
    ['routes', 404],
    ['gatewaysettings', 500],
  ])('wait for %s that respond with %i', async (plural, status) => {
    let isBroken = true;
    server.intercept = ({ path }, response) => {
      if (!isBroken || !path.endsWith(plural)) return false;
      answerStatus(response, status, 'Broken');
      return true;
    };
    putRoute('files');
    const { health } = begin();
    await eventually('the others are watched', () => server.watchCount === 4);
    await eventually('it tried twice', () => requestsFor(plural) >= 2);
    expect(batches).toEqual([]);
    expect(health.map(({ resource }) => resource)).toContain(plural);
    isBroken = false;
    expect(keysOf((await expectBatch(1)).routes)).toEqual(['apps/files']);
  });

  it('do not wait for ReferenceGrants that are not installed', async () => {
    server.intercept = ({ path }, response) => {
      if (!path.endsWith('referencegrants')) return false;
      answerStatus(response, 404, 'NotFound');
      return true;
    };
    begin();
    await expectBatch(1, 4);
  });

  it('are of the given namespaces only', async () => {
    putRoute('files');
    server.put(`${GATEHOUSE}/other/routes`, { metadata: { name: 'x', namespace: 'other' } });
    begin({ namespaces: ['apps', 'more'] });
    expect(keysOf((await expectBatch(1, 9)).routes)).toEqual(['apps/files']);
    expect(server.requests.map(({ path }) => path)).not.toContain(
      '/apis/gatehouse.dev/v1alpha1/routes',
    );
  });
});

describe('later changes of a cluster watch', () => {
  it('are collected into the newest state of each resource', async () => {
    begin();
    await expectBatch(1);
    putRoute('a');
    putRoute('b');
    putRoute('b', { generation: 2 });
    putRoute('c');
    server.remove(ROUTES, 'c');
    const changes = await expectBatch(2);
    expect([...(changes.routes ?? [])]).toEqual([
      ['apps/a', expect.objectContaining({ metadata: expect.objectContaining({ generation: 1 }) })],
      ['apps/b', expect.objectContaining({ metadata: expect.objectContaining({ generation: 2 }) })],
      ['apps/c', undefined],
    ]);
    expect(changes).not.toHaveProperty('settings');
  });

  it('do not include statuses, which are reported separately', async () => {
    putRoute('files');
    const settings = { name: 'gatehouse', namespace: 'gatehouse', generation: 1 };
    server.put(SETTINGS, { metadata: settings });
    const reported: StatusChange[] = [];
    const it = begin({ onStatusChange: (change) => void reported.push(change) });
    await expectBatch(1);
    putRoute('files', { status: { url: 'https://files.example.com' } });
    const withLabels = { metadata: { ...settings, labels: { team: 'a' } } };
    server.put(SETTINGS, withLabels);
    await eventually('the newest statuses are reported', () => reported.length === 2);
    expect(reported).toContainEqual({
      kind: 'route',
      key: 'apps/files',
      route: expect.objectContaining({ status: { url: 'https://files.example.com' } }),
    });
    expect(reported).toContainEqual({ kind: 'settings', settings: it.settings });
    expect(it.route('apps/files')).toMatchObject({ status: { url: 'https://files.example.com' } });
    putRoute('other');
    expect(keysOf((await expectBatch(2)).routes)).toEqual(['apps/other']);
  });

  it('include a Route that was deleted and created again under its name', async () => {
    putRoute('files');
    begin();
    await expectBatch(1);
    putRoute('files', { metadata: { uid: 'another batch' } });
    expect(keysOf((await expectBatch(2)).routes)).toEqual(['apps/files']);
  });

  it('report a Route that is being deleted as gone', async () => {
    putRoute('files');
    begin();
    await expectBatch(1);
    putRoute('files', { generation: 2, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    const { routes } = await expectBatch(2);
    expect([...(routes ?? [])]).toEqual([['apps/files', undefined]]);
  });

  it('report Routes and settings that join or leave the gateway class', async () => {
    const foreign = { gatewayClassName: 'foreign' };
    putRoute('mine');
    putRoute('theirs', { spec: foreign });
    const metadata = { name: 'gatehouse', namespace: 'gatehouse' };
    const theirSettings: KubernetesObject & { spec: object } = {
      metadata: { ...metadata, generation: 1 },
      spec: foreign,
    };
    server.put(SETTINGS, theirSettings);
    const it = begin();
    const first = await expectBatch(1);
    expect(keysOf(first.routes)).toEqual(['apps/mine']);
    expect(first.settings).toBeNull();
    expect(it.settings).toBeUndefined();
    expect(it.route('apps/theirs')).toBeUndefined();
    putRoute('mine', { generation: 2, spec: foreign });
    putRoute('theirs', { generation: 2, spec: { gatewayClassName: 'gatehouse' } });
    server.put(SETTINGS, { metadata: { ...metadata, generation: 2 } });
    await eventually('the settings arrive', () => batches.some(({ settings }) => settings != null));
    const routes = new Map(batches.slice(1).flatMap((batch) => [...(batch.routes ?? [])]));
    expect(routes.get('apps/mine')).toBeUndefined();
    expect(keysOf(routes)).toEqual(['apps/mine', 'apps/theirs']);
    expect(routes.get('apps/theirs')).toBeDefined();
  });

  it('report a released Route at once, until it is served again or gone', async () => {
    const reported: StatusChange[] = [];
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const foreign = { gatewayClassName: 'foreign' };
    const ours = { gatewayClassName: 'gatehouse' };
    for (const name of ['deleted', 'leaving', 'back']) putRoute(name, { status: ours });
    putRoute('deleting', { generation: 2, metadata: deletion });
    putRoute('theirs', { spec: foreign, status: foreign });
    putRoute('left', { spec: foreign, status: ours });
    begin({ onStatusChange: (change) => void reported.push(change) });
    await expectBatch(1);
    const isReported = (key: string): boolean =>
      reported.some((one) => 'key' in one && one.key === key);
    const atFirst = [
      released('apps/deleting', 'deleted', { generation: 2 }),
      released('apps/left', 'other-class', { generation: 1 }),
    ];
    expect(reported).toEqual(atFirst);

    putRoute('theirs', { generation: 2, spec: foreign, status: foreign });
    putRoute('leaving', { generation: 3, spec: foreign, status: ours });
    putRoute('leaving', { generation: 3, spec: foreign, status: foreign });
    putRoute('back', { generation: 2, spec: foreign, status: ours });
    putRoute('back', { generation: 3, status: ours });
    putRoute('deleted', { generation: 2, metadata: deletion });
    server.remove(ROUTES, 'deleted');
    putRoute('last', { generation: 2, metadata: deletion });
    await eventually('the last is reported', () => isReported('apps/last'));

    const changes = reported.slice(atFirst.length).filter(({ kind }) => kind === 'released-route');
    expect(changes).toEqual([
      released('apps/leaving', 'other-class', { generation: 3 }),
      { kind: 'released-route', key: 'apps/leaving', released: undefined },
      released('apps/back', 'other-class', { generation: 2 }),
      { kind: 'released-route', key: 'apps/back', released: undefined },
      released('apps/deleted', 'deleted', { generation: 2 }),
      { kind: 'released-route', key: 'apps/deleted', released: undefined },
      released('apps/last', 'deleted', { generation: 2 }),
    ]);
  });

  it('include of a Service and its endpoints only what routes need', async () => {
    begin();
    await expectBatch(1);
    const metadata = { name: 'files', namespace: 'apps' };
    const service = (port: number, clusterIP: string): KubernetesObject & { spec: object } => ({
      metadata: { ...metadata, annotations: { clusterIP } },
      spec: { type: 'ClusterIP', clusterIP, ports: [{ port, nodePort: 30_000 }] },
    });
    server.put(SERVICES, service(80, '10.0.0.1'));
    const { services } = await expectBatch(2);
    expect(services?.get('apps/files')).toEqual({
      metadata,
      spec: { type: 'ClusterIP', ports: [{ port: 80 }] },
    });
    server.put(SERVICES, service(80, '10.0.0.2'));
    server.put(SERVICES, { metadata: { name: 'other', namespace: 'apps' } });
    expect(keysOf((await expectBatch(3)).services)).toEqual(['apps/other']);
  });

  it('are delivered one batch at a time, also after a handler failed', async () => {
    const failing: Changes[] = [];
    let running = 0;
    begin({
      onChanges: async (changes) => {
        running += 1;
        failing.push(changes);
        expect(running).toBe(1);
        await settle();
        running -= 1;
        throw new Error('cannot compile');
      },
    });
    await eventually('all watches are open', () => server.watchCount === 5 && failing.length === 1);
    putRoute('a');
    await eventually('the next batch', () => failing.length === 2);
    putRoute('b');
    await eventually('another batch', () => failing.length === 3);
    expect(keysOf(failing[2]?.routes)).toEqual(['apps/b']);
    await eventually('three errors are logged', () => logger.messages('error').length === 3);
  });
});
