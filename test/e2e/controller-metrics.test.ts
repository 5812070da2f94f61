import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import type { ClusterGateway } from '../support/kubernetes/cluster-gateway.ts';
import { startClusterWorld } from '../support/kubernetes/cluster-world.ts';
import type { ControllerMember } from '../support/kubernetes/controller-member.ts';
import { startFakeCluster } from '../support/kubernetes/fake/start-fake-cluster.ts';
import { metricFaults } from '../support/metrics/metric-faults.ts';
import { ReadableControllerMetrics } from '../support/metrics/readable-controller-metrics.ts';

describe('the metrics of controllers', () => {
  const opened = new AsyncDisposableStack();
  let gateway: ClusterGateway;

  beforeAll(async () => {
    ({ gateway } = opened.use(
      await startClusterWorld(startFakeCluster, { controllers: 2, proxies: 2 }),
    ));
  });
  afterAll(() => opened.disposeAsync());

  /** The values of a metric by its labels. */
  async function values(
    name: string,
    controller: ControllerMember,
  ): Promise<Readonly<Record<string, number>>> {
    const { samples = [] } = (await controller.metrics()).get(`gatehouse_controller_${name}`) ?? {};
    const entries = samples.map(
      ({ labels, value }) => [Object.values(labels).join(' '), value] as const,
    );
    return Object.fromEntries(entries);
  }

  test('are well formed, and all there at the leader', async () => {
    const leader = await gateway.leader();
    await gateway.untilCondition('first', 'Programmed', 'True/Programmed');
    const scraped = await leader.metrics();
    const defined = [...new ReadableControllerMetrics().registry.families].map(({ name }) => name);

    expect(metricFaults(scraped.values())).toEqual([]);
    // What has no value before something goes wrong, or a proxy reports an upstream.
    const rare = /problems|rejections|refusals|upstream_auth|failing_watches|watch_restarts/;
    expect(defined.filter((name) => !scraped.has(name) && !rare.test(name))).toEqual([]);
  });

  test('say which one leads', async () => {
    const leader = await gateway.leader();
    const [follower] = await gateway.followers();

    expect(await values('leading', leader)).toEqual({ '': 1 });
    expect(follower && (await values('leading', follower))).toEqual({ '': 0 });
    expect(follower && (await values('routes', follower))).toMatchObject({ accepted: 1 });
    expect(follower && (await values('snapshot_epoch', follower))).toEqual({});
  });

  test('show how far each proxy lags, and no longer once it has left', async () => {
    const leader = await gateway.leader();
    const [slow, quick] = gateway.proxies;
    const lags = () => values('acknowledgement_lag_seconds', leader);
    await eventually('none lags', async () =>
      Object.values(await lags()).every((lag) => lag === 0),
    );
    expect(Object.keys(await lags()).sort()).toEqual(['gatehouse-proxy-0', 'gatehouse-proxy-1']);
    slow?.pause();
    await gateway.applyRoute('changed');
    await gateway.untilServed('changed', { proxies: quick === undefined ? [] : [quick] });
    await eventually('one lags', async () => ((await lags())['gatehouse-proxy-0'] ?? 0) > 1);
    expect((await lags())['gatehouse-proxy-1']).toBe(0);
    expect(await values('proxies', leader)).toMatchObject({ connected: 2, synced: 1 });
    slow?.resume();
    await eventually('none lags', async () => (await lags())['gatehouse-proxy-0'] === 0);
    await gateway.untilCondition('changed', 'Programmed', 'True/Programmed');
    if (slow !== undefined) await gateway.dropProxy(slow);
    await eventually('it has left', async () => !('gatehouse-proxy-0' in (await lags())));

    expect(await values('proxies', leader)).toMatchObject({ connected: 1, ready: 1, synced: 1 });
  });
});
