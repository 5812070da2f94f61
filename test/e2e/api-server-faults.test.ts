import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import type { Cluster } from '../support/kubernetes/cluster.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { hostOf } from '../support/kubernetes/gateway-manifests.ts';
import { startSteadyLoad } from '../support/kubernetes/steady-load.ts';

const SECOND = 1000;
/** Longer than a Lease is valid after its holder is gone. */
const AWAY_MS = 30 * SECOND;

describeWithClusters(['faults'], 'an API server that fails', (openCluster) => {
  const opened = new AsyncDisposableStack();
  let cluster: Cluster;
  let gateway: ClusterGateway;

  beforeAll(async () => {
    ({ cluster, gateway } = opened.use(
      await startClusterWorld(openCluster, {
        controllers: 2,
        proxies: 3,
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

  test('can be away for half a minute: requests are served, and changes follow once it is back', async () => {
    const [restarting, ...others] = gateway.proxies;
    await using load = startSteadyLoad(others, hostOf('first'));
    await cluster.faults.goAway();
    const goneAt = performance.now();
    const isOver = (): boolean => performance.now() - goneAt > AWAY_MS;

    // Once while the leader still leads, and once when no controller leads.
    const early = await restart();
    await eventually('no controller leads', () =>
      gateway.controllers.some((controller) => controller.hasLogged('leadership lost')),
    );
    const late = await restart();
    await eventually('the API server was away long enough', isOver);
    await cluster.faults.heal();
    await gateway.applyRoute('after-it-was-away');
    const ms = await gateway.untilServed('after-it-was-away');

    const { requests, failures } = await load.stop();
    console.info(
      `API server away for half a minute: ${String(requests)} requests, proxies restarted within ${String(early)} and ${String(late)} ms, a new Route served ${String(ms)} ms after it`,
    );
    expect(failures).toEqual([]);
    await gateway.untilCondition('after-it-was-away', 'Programmed', 'True/Programmed');

    async function restart(): Promise<number> {
      await restarting?.kill();
      restarting?.start();
      return eventually(
        'the proxy serves from its cache',
        async () => (await restarting?.status(hostOf('first'))) === 200,
      );
    }
  });
});
