import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { eventually } from '../../../support/eventually.ts';
import { createAdminClient } from '../../../support/kubernetes/admin-client.ts';
import type { Cluster } from '../../../support/kubernetes/cluster.ts';
import { startFakeCluster } from '../../../support/kubernetes/fake/start-fake-cluster.ts';
import { openWatch } from '../../../support/kubernetes/open-watch.ts';
import { routesIn } from '../../../support/kubernetes/paths.ts';
import { aRoute } from '../../../support/resources.ts';

const NAMESPACE = 'default';
const NAMESPACES = '/api/v1/namespaces';
const WATCH = `${routesIn(NAMESPACE)}?watch=true`;

describe('a fake cluster', () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await startFakeCluster();
  });
  afterEach(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  async function createRoute(name: string): Promise<void> {
    await cluster.admin.request('POST', routesIn(NAMESPACE), aRoute({}, { name }));
  }

  async function listVersion(query = ''): Promise<string> {
    const list = await cluster.admin.request('GET', `${routesIn(NAMESPACE)}?${query}`);
    return (list as { readonly metadata: { readonly resourceVersion: string } }).metadata
      .resourceVersion;
  }

  test('that went away is back on its port, with what it had, when it is healed', async () => {
    await createRoute('kept');
    await using watch = await openWatch(cluster.adminKubeconfig, WATCH);
    await watch.next();
    await cluster.faults.goAway();

    await expect(watch.next()).rejects.toThrow();
    await expect(cluster.admin.request('GET', NAMESPACES)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });

    await cluster.faults.heal();

    expect(await cluster.admin.request('GET', routesIn(NAMESPACE))).toMatchObject({
      items: [{ metadata: { name: 'kept' } }],
    });
  });

  test('that hangs answers nobody, and never will', async () => {
    await using watch = await openWatch(cluster.adminKubeconfig, WATCH);
    const line = watch.next();
    cluster.faults.hang();
    const asked = cluster.faults.requests.length;
    const answer = cluster.admin.request('GET', NAMESPACES);
    await eventually('it was asked', () => cluster.faults.requests.length > asked);
    await using other = await createAdminClient(cluster.adminKubeconfig);
    await cluster.faults.heal();
    await other.request('POST', routesIn(NAMESPACE), aRoute());

    expect(await isSettled(line)).toBe(false);
    expect(await isSettled(answer)).toBe(false);

    await Promise.all([
      expect(answer).rejects.toThrow(),
      expect(line).rejects.toThrow(),
      cluster[Symbol.asyncDispose](),
    ]);
  });

  test('cuts watches in the middle, and lets others begin', async () => {
    await using watch = await openWatch(cluster.adminKubeconfig, WATCH);
    const line = watch.next();
    cluster.faults.cutWatches();

    await expect(line).rejects.toThrow();

    await using next = await openWatch(cluster.adminKubeconfig, WATCH);
    await createRoute('later');

    expect(await next.next()).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'later' } },
    });
  });

  test('that was compacted knows no version and no page from before', async () => {
    for (const name of ['a', 'b']) await createRoute(name);
    const before = await listVersion();
    const { metadata } = (await cluster.admin.request('GET', `${routesIn(NAMESPACE)}?limit=1`)) as {
      readonly metadata: { readonly continue: string };
    };
    cluster.faults.compact();
    await using stale = await openWatch(
      cluster.adminKubeconfig,
      `${WATCH}&resourceVersion=${before}`,
    );

    expect(await stale.next()).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired' },
    });
    expect(await stale.next()).toBeUndefined();
    await expect(listVersion(`limit=1&continue=${metadata.continue}`)).rejects.toMatchObject({
      code: 410,
      reason: 'Expired',
    });
  });

  test('that was compacted lets watches begin from its next list', async () => {
    cluster.faults.compact();
    const version = await listVersion();
    await using watch = await openWatch(
      cluster.adminKubeconfig,
      `${WATCH}&resourceVersion=${version}`,
    );
    await createRoute('next');

    expect(await watch.next()).toMatchObject({ type: 'ADDED' });
  });

  test.each([
    { part: 1, failures: 8 },
    { part: 0.25, failures: 2 },
    { part: 0, failures: 0 },
  ])('fails $failures of 8 requests when $part of them are to', async ({ part, failures }) => {
    cluster.faults.fail(503, part);
    const answers = await Promise.allSettled(
      Array.from({ length: 8 }, async () => await cluster.admin.request('GET', NAMESPACES)),
    );
    const reasons = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [answer.reason as unknown] : [],
    );

    expect(reasons).toHaveLength(failures);
    expect(reasons).toEqual(
      reasons.map(() => expect.objectContaining({ code: 503, reason: 'ServiceUnavailable' })),
    );
  });

  test('asks to be left alone for a while when it says that there are too many requests', async () => {
    cluster.faults.fail(429, 1);

    await expect(cluster.admin.request('GET', NAMESPACES)).rejects.toMatchObject({
      reason: 'TooManyRequests',
      status: { details: { retryAfterSeconds: 1 } },
    });
  });

  test('fails no more when it is healed', async () => {
    cluster.faults.fail(500, 1);
    await cluster.faults.heal();

    expect(await cluster.admin.request('GET', NAMESPACES)).toMatchObject({ kind: 'NamespaceList' });
  });

  describe('logs', () => {
    test('who asked for what, and what they were refused', async () => {
      const kubeconfig = await cluster.kubeconfigFor('team', 'somebody');
      await using somebody = await createAdminClient(kubeconfig);
      const status = { status: {} };
      const asked = cluster.faults.requests.length;
      await createRoute('app');
      await cluster.admin.request('PATCH', `${routesIn(NAMESPACE)}/app/status`, status, {
        'content-type': 'application/merge-patch+json',
      });
      await cluster.admin.request('GET', '/api/v1/secrets?fieldSelector=metadata.name%3Dkey');
      await expect(somebody.request('DELETE', routesIn('team'))).rejects.toMatchObject({
        code: 403,
      });

      const route = { group: 'gatehouse.dev', namespace: NAMESPACE };
      expect(cluster.faults.requests.slice(asked)).toEqual([
        { ...route, user: 'admin', verb: 'create', resource: 'routes', name: '' },
        { ...route, user: 'admin', verb: 'patch', resource: 'routes/status', name: 'app' },
        { group: '', namespace: '', user: 'admin', verb: 'list', resource: 'secrets', name: 'key' },
        {
          group: 'gatehouse.dev',
          namespace: 'team',
          user: 'system:serviceaccount:team:somebody',
          verb: 'deletecollection',
          resource: 'routes',
          name: '',
        },
      ]);
    });

    test('what it does not answer', async () => {
      const asked = cluster.faults.requests.length;
      cluster.faults.fail(500, 1);

      await expect(cluster.admin.request('GET', WATCH)).rejects.toMatchObject({ code: 500 });
      expect(cluster.faults.requests.slice(asked)).toMatchObject([
        { verb: 'watch', resource: 'routes' },
      ]);
    });
  });
});

/** Whether a promise is settled by the time that everything ready in the event loop has been done. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const isPending = Symbol('pending');
  const first = await Promise.race([
    promise.catch(() => undefined),
    new Promise((resolve) => setImmediate(resolve, isPending)),
  ]);
  return first !== isPending;
}
