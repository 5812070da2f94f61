import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import type { Cluster } from '../support/kubernetes/cluster.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';

describeWithClusters(['faults'], 'an API server that fails', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let cluster: Cluster;
  let gateway: ClusterGateway;

  beforeAll(async () => {
    ({ cluster, gateway } = opened.use(
      await startClusterWorld(openCluster, {
        controllers: 1,
        proxies: 2,
        controllerFlags: ['--deletion-delay', '0s'],
      }),
    ));
    await gateway.untilCondition('first', 'Programmed', 'True/Programmed');
  });
  afterAll(() => opened.disposeAsync());

  test('is watched from where its watches were cut, without a list', async () => {
    const before = cluster.faults.requests.length;
    cluster.faults.cutWatches();
    await gateway.applyRoute('after-the-cut');

    const ms = await gateway.untilServed('after-the-cut');
    console.info(`watches cut: a new Route served after ${String(ms)} ms`);
    const asked = cluster.faults.requests.slice(before).filter(({ user }) => user !== 'admin');
    expect(asked.map(({ verb }) => verb)).not.toContain('list');
  });

  test('is listed again if it no longer has the version to watch from', async () => {
    await gateway.applyRoute('forgotten');
    await gateway.untilServed('forgotten');
    const before = cluster.faults.requests.length;
    await gateway.deleteRoute('forgotten');
    cluster.faults.compact();
    cluster.faults.cutWatches();
    await gateway.applyRoute('after-the-compaction');

    const ms = await gateway.untilServed('after-the-compaction');
    console.info(`410 Gone: a new Route served after ${String(ms)} ms`);
    await eventually('the deleted Route is gone', async () =>
      (await gateway.statuses('forgotten')).every((status) => status === 421),
    );
    const asked = cluster.faults.requests.slice(before).filter(({ user }) => user !== 'admin');
    expect(asked.map(({ verb, resource }) => `${verb} ${resource}`)).toContain('list routes');
  });
});
