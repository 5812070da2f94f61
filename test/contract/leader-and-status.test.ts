import { beforeAll, describe, expect, it } from '@jest/globals';

import { connectKubernetes } from '../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../controller/kubernetes/kubeconfig-access.ts';
import type { KubernetesApi } from '../../controller/kubernetes/kubernetes-api.ts';
import { parseStoredRoute } from '../../controller/kubernetes/parse-stored.ts';
import { EVENTS, LEASES, ROUTES } from '../../controller/kubernetes/resource-types.ts';
import { DEFAULT_TIMING } from '../../controller/leader/election-timing.ts';
import { LeaseElector } from '../../controller/leader/lease-elector.ts';
import type { Leadership } from '../../controller/leader/leadership.ts';
import { epochOf, holderOf } from '../../controller/leader/lease.ts';
import { parseLease } from '../../controller/leader/parse-lease.ts';
import { StatusLoop } from '../../controller/status/status-loop.ts';
import { DEFAULT_LIMITS } from '../../controller/status/status-writer.ts';
import type { RouteStatus, StoredRoute } from '../../controller/kubernetes/stored-resources.ts';
import { ClusterWatch } from '../../controller/watch/cluster-watch.ts';
import { eventually } from '../support/eventually.ts';
import { FakePublication } from '../support/fake-publication.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { leasesIn } from '../support/kubernetes/paths.ts';
import { letTimePass } from '../support/let-time-pass.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { openForAll } from '../support/open-for-all.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { routeVerdict } from '../support/verdicts.ts';
import { ReadableControllerMetrics } from '../support/metrics/readable-controller-metrics.ts';

const TIMING = {
  ...DEFAULT_TIMING,
  leaseDurationMs: 3000,
  renewDeadlineMs: 2000,
  retryPeriodMs: 200,
};

describeWithClusters([], 'a leader elected by a Lease', (openCluster) => {
  const cluster = openForAll(openCluster);
  let api: KubernetesApi;
  let namespace: string;

  beforeAll(async () => {
    api = connectKubernetes(kubeconfigAccess(cluster().adminKubeconfig));
    namespace = await createNamespace(cluster());
  });

  function candidate(
    identity: string,
    leaseName: string,
  ): LeaseElector & { readonly led: Leadership[] } {
    const led: Leadership[] = [];
    const elector = new LeaseElector({
      api,
      namespace,
      leaseName,
      identity,
      pushAddress: `${identity}:8444`,
      logger: recordingLogger(),
      timing: TIMING,
    });
    elector.join((leadership) => void led.push(leadership));
    return Object.assign(elector, { led });
  }

  it('is succeeded with a higher epoch when it stops', async () => {
    const first = candidate('a_1', 'stops');
    await eventually('the first leads', () => first.isLeading);
    await using second = candidate('b_1', 'stops');
    await eventually('the second knows it', () => second.leaderAddress === 'a_1:8444');
    await expect(first.led[0]?.raiseEpochAbove(6)).resolves.toBe(7);

    await first[Symbol.asyncDispose]();
    await eventually('the second leads', () => second.isLeading);
    expect(second.led.map(({ epoch }) => epoch)).toEqual([8]);
    const lease = parseLease(await api.get(LEASES, { namespace, name: 'stops' }));
    expect([holderOf(lease), epochOf(lease)]).toEqual(['b_1', 8]);
  });

  it('renews the Lease beyond its duration against a competitor', async () => {
    await using first = candidate('a_1', 'kept');
    await eventually('the first leads', () => first.isLeading);
    await using second = candidate('b_1', 'kept');
    const place = { namespace, name: 'kept' };
    const { metadata: acquired } = await api.get(LEASES, place);
    const start = performance.now();
    const end = start + TIMING.leaseDurationMs + TIMING.retryPeriodMs;
    await eventually('the Lease would have expired', () => performance.now() > end);
    const { metadata: kept } = await api.get(LEASES, place);
    expect(kept.resourceVersion).not.toBe(acquired.resourceVersion);
    expect([first.led.length, second.led.length]).toEqual([1, 0]);
  });

  it('is elected again when the Lease is deleted', async () => {
    await using first = candidate('a_1', 'deleted');
    await eventually('the first leads', () => first.isLeading);
    await using second = candidate('b_1', 'deleted');
    await eventually('the second knows it', () => second.leaderAddress !== undefined);
    await cluster().admin.request('DELETE', `${leasesIn(namespace)}/deleted`);
    const epochs = () => [...first.led, ...second.led].map(({ epoch }) => epoch);
    await eventually('somebody leads again', () => epochs().length === 2);
    expect(epochs()).toEqual([1, 2]);
  });

  async function createRoute(name: string): Promise<StoredRoute> {
    const object = await api.create(ROUTES, namespace, {
      apiVersion: 'gatehouse.dev/v1alpha1',
      kind: 'Route',
      metadata: { name },
      spec: { from: `https://${name}.example.com`, to: 'http://files' },
    });
    return parseStoredRoute(object);
  }

  async function statusOf(name: string): Promise<RouteStatus | undefined> {
    return parseStoredRoute(await api.get(ROUTES, { namespace, name })).status;
  }

  describe('writes statuses', () => {
    it('that the API server accepts, with an Event', async () => {
      const route = await createRoute('files');
      const loop = new StatusLoop({
        metrics: new ReadableControllerMetrics(),
        api,
        identity: 'a_1',
        gatewayClass: 'gatehouse',
        logger: recordingLogger(),
        limits: { ...DEFAULT_LIMITS, settlingMs: 0 },
      });
      const end = new AbortController();
      loop.beginTerm({ leadership: aLeadership(end.signal), publication: new FakePublication() });
      const { uid = '' } = route.metadata;
      loop.observeRoutes(new Map([[`${namespace}/files`, route]]));
      loop.reportRoutes(new Map([[`${namespace}/files`, routeVerdict({ namespace, uid })]]));
      const status = () => statusOf('files');
      await eventually('it is programmed', async () => {
        return (await status())?.programmedGeneration === 1;
      });

      const problem = { path: 'spec.policy', reason: 'InvalidPolicy', message: 'no' } as const;
      const bad = routeVerdict({
        namespace,
        uid,
        generation: 2,
        problems: [problem],
        servedGeneration: 1,
      });
      loop.reportRoutes(new Map([[`${namespace}/files`, bad]]));
      await eventually(
        'an older generation serves',
        async () => (await status())?.served !== undefined,
      );
      expect((await status())?.served).toEqual({ generation: 1, spec: { of: 1 } });
      await eventually('there is an Event', async () => {
        const { items } = await api.list(EVENTS, { namespace });
        return items.some((event) => event['reason'] === 'InvalidPolicy');
      });

      loop.reportRoutes(
        new Map([[`${namespace}/files`, routeVerdict({ namespace, uid, generation: 3 })]]),
      );
      await eventually('it is accepted again', async () => (await status())?.served === undefined);
      const types = (await status())?.conditions?.map(({ type }) => type).toSorted();
      expect(types).toEqual(['Accepted', 'Programmed', 'ResolvedRefs']);
      end.abort();
    });

    it('that undo changes of other clients, and none without need', async () => {
      const { metadata } = await createRoute('edited');
      const { uid = '' } = metadata;
      const clock = new ManualClock();
      let writes = 0;
      const loop = new StatusLoop({
        metrics: new ReadableControllerMetrics(),
        api: {
          create: async (type, namespace, object) => await api.create(type, namespace, object),
          applyStatus: async (type, place, status) => {
            writes += 1;
            return await api.applyStatus(type, place, status);
          },
        },
        clock,
        identity: 'a_1',
        gatewayClass: 'gatehouse',
        logger: recordingLogger(),
        limits: { ...DEFAULT_LIMITS, settlingMs: 0 },
      });
      const end = new AbortController();
      loop.beginTerm({ leadership: aLeadership(end.signal), publication: new FakePublication() });
      let seen = 0;
      await using watch = new ClusterWatch({
        metrics: new ReadableControllerMetrics(),
        api,
        logger: recordingLogger(),
        gatewayClass: 'gatehouse',
        settings: { namespace, name: 'gatehouse' },
        namespaces: [namespace],
        onChanges: () => undefined,
        onStatusChange: (change) => {
          if (change.kind !== 'route' || change.key !== `${namespace}/edited`) return;
          seen += 1;
          loop.observeRoutes(new Map([[change.key, change.route]]));
        },
      });
      await eventually(
        'the Route is watched',
        () => watch.route(`${namespace}/edited`) !== undefined,
      );
      const tell = (generation: number): void =>
        loop.reportRoutes(
          new Map([
            [`${namespace}/edited`, routeVerdict({ namespace, name: 'edited', uid, generation })],
          ]),
        );
      tell(1);
      tell(2);
      await letTimePass(clock, 'the watch reports our write', () => seen === 1);
      expect(writes).toBe(1);

      const path = `/apis/gatehouse.dev/v1alpha1/namespaces/${namespace}/routes/edited/status`;
      const forged = { status: { url: 'https://forged.example.com', conditions: [] } };
      const contentType = { 'content-type': 'application/merge-patch+json' };
      await cluster().admin.request('PATCH', path, forged, contentType);
      await letTimePass(clock, 'the status is corrected', async () => {
        return (await statusOf('edited'))?.url === 'https://files.example.com';
      });
      await eventually('the watch reports the correction', () => seen === 3);
      await clock.advance(60_000);
      expect(writes).toBe(2);
      end.abort();
    });
  });
});

function aLeadership(signal: AbortSignal): Leadership {
  return {
    epoch: 1,
    isCurrent: true,
    signal,
    raiseEpochAbove: (epoch) => Promise.resolve(epoch + 1),
  };
}
