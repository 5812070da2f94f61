import { describe, expect, test } from '@jest/globals';

import type { AdminClient } from '../../../support/kubernetes/cluster.ts';
import { startFakeCluster } from '../../../support/kubernetes/fake/start-fake-cluster.ts';
import { openWatch } from '../../../support/kubernetes/open-watch.ts';
import { routesIn } from '../../../support/kubernetes/paths.ts';
import { aRoute } from '../../../support/resources.ts';

const REFERENCE_GRANTS = '/apis/gateway.networking.k8s.io/v1beta1/referencegrants';
const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const WATCH = `${routesIn('default')}?watch=true`;
const HOUR_MS = 3_600_000;

describe('a fake cluster has', () => {
  test('ReferenceGrants', async () => {
    await using cluster = await startFakeCluster();

    expect(await cluster.admin.request('GET', REFERENCE_GRANTS)).toMatchObject({
      kind: 'ReferenceGrantList',
    });
  });

  test('no ReferenceGrants when asked to', async () => {
    await using cluster = await startFakeCluster({ referenceGrants: false });

    await expect(cluster.admin.request('GET', REFERENCE_GRANTS)).rejects.toMatchObject({
      code: 404,
      status: '404 page not found\n',
    });
  });

  test('bookmarks as often as asked to, for those who want them', async () => {
    await using cluster = await startFakeCluster({ bookmarkIntervalMs: 10 });
    const path = `${WATCH}&allowWatchBookmarks=true`;
    await using watch = await openWatch(cluster.adminKubeconfig, path);
    await using plain = await openWatch(cluster.adminKubeconfig, WATCH);

    expect(await watch.next()).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Route' } });
    expect(await watch.next()).toMatchObject({ type: 'BOOKMARK' });

    await createRoute(cluster.admin, 'app');

    expect(await plain.next()).toMatchObject({ type: 'ADDED' });
  });

  test('no more history than asked to', async () => {
    await using cluster = await startFakeCluster({ historyLimit: 2, refusesExpiredWatches: true });
    const first = await createRoute(cluster.admin, 'first');
    for (const name of ['a', 'b', 'c', 'd', 'e']) await createRoute(cluster.admin, name);

    await expect(
      openWatch(cluster.adminKubeconfig, `${WATCH}&resourceVersion=${first}`),
    ).rejects.toMatchObject({ code: 410, reason: 'Expired' });
  });

  test('a clock that can be set, by which tokens expire', async () => {
    let time = Date.parse('2030-01-01T00:00:00.900Z');
    await using cluster = await startFakeCluster({ now: () => time });
    const token = await cluster.proxyToken({
      namespace: 'gatehouse',
      serviceAccount: 'gatehouse-proxy',
      pod: 'proxy-1',
      audience: 'gatehouse-controller',
    });
    const review = { spec: { token, audiences: ['gatehouse-controller'] } };

    expect(await cluster.admin.request('GET', '/api/v1/namespaces/gatehouse')).toMatchObject({
      metadata: { creationTimestamp: '2030-01-01T00:00:00Z' },
    });
    expect(await cluster.admin.request('POST', TOKEN_REVIEWS, review)).toMatchObject({
      status: { authenticated: true },
    });

    time += HOUR_MS;

    expect(await cluster.admin.request('POST', TOKEN_REVIEWS, review)).toMatchObject({
      status: { user: {}, error: expect.stringContaining('expired') as unknown },
    });
  });
});

/** Returns the version of the Route. */
async function createRoute(admin: AdminClient, name: string): Promise<string> {
  const route = await admin.request('POST', routesIn('default'), aRoute({}, { name }));
  return (route as { readonly metadata: { readonly resourceVersion: string } }).metadata
    .resourceVersion;
}
