import { afterEach, beforeEach, expect, it } from '@jest/globals';

import type { Changes } from '../../controller/compile/compilation.ts';
import { connectKubernetes } from '../../controller/kubernetes/connect-kubernetes.ts';
import { kubeconfigAccess } from '../../controller/kubernetes/kubeconfig-access.ts';
import type { KubernetesApi } from '../../controller/kubernetes/kubernetes-api.ts';
import { ROUTES } from '../../controller/kubernetes/resource-types.ts';
import { ClusterWatch } from '../../controller/watch/cluster-watch.ts';
import { eventually } from '../support/eventually.ts';
import type { Cluster } from '../support/kubernetes/cluster.ts';
import { createNamespace } from '../support/kubernetes/create-namespace.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { createRecordingLogger } from '../support/redis/recording-logger.ts';
import { ReadableControllerMetrics } from '../support/metrics/readable-controller-metrics.ts';

describeWithClusters([], 'a cluster watch', (openCluster) => {
  const logger = createRecordingLogger();
  let cluster: Cluster;
  let api: KubernetesApi;
  let watch: ClusterWatch;
  let batches: Changes[];
  let namespace: string;

  beforeEach(async () => {
    cluster = await openCluster();
    namespace = await createNamespace(cluster);
    api = connectKubernetes(kubeconfigAccess(cluster.adminKubeconfig));
    batches = [];
    watch = new ClusterWatch({
      metrics: new ReadableControllerMetrics(),
      api,
      logger,
      gatewayClass: 'gatehouse',
      settings: { namespace, name: 'gatehouse' },
      onChanges: (changes) => void batches.push(changes),
    });
  });

  afterEach(async () => {
    await watch[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  const key = (): string => `${namespace}/files`;

  const applyRoute = async (to: string): Promise<void> =>
    await cluster.admin.apply(`
apiVersion: gatehouse.dev/v1alpha1
kind: Route
metadata: { name: files, namespace: ${namespace} }
spec: { from: 'https://files.example.com', to: '${to}' }
`);

  /** The reported generations of the Route, in order; undefined: it is gone. */
  const generations = (): readonly (number | undefined)[] =>
    batches.flatMap(({ routes }) => {
      if (routes?.has(key()) !== true) return [];
      return [routes.get(key())?.metadata.generation];
    });

  it('reports a Route that is created, changed and deleted, but not its status', async () => {
    await eventually('the first changes', () => batches.length === 1);
    await applyRoute('http://one.example.com');
    await eventually('it is reported', () => generations().length === 1);
    const place = { namespace, name: 'files' };
    await api.applyStatus(ROUTES, place, { url: 'https://files.example.com' });
    await eventually('its status is known', () => hasStatus(watch.route(key())));
    await applyRoute('http://two.example.com');
    await eventually('its change is reported', () => generations().length === 2);
    const path = `/apis/gatehouse.dev/v1alpha1/namespaces/${namespace}/routes/files`;
    await cluster.admin.request('DELETE', path);
    await eventually('its deletion is reported', () => generations().length === 3);
    expect(generations()).toEqual([1, 2, undefined]);
    expect(hasStatus(watch.route(key()))).toBe(false);
  });

  it('watches a Secret by its name, even before it exists', async () => {
    await eventually('the first changes', () => batches.length === 1);
    const secretNames = new Set([`${namespace}/keys`]);
    expect(
      watch.subscribe({
        ...{ secretNames, configMapNames: new Set<string>() },
        ...{ namespaces: true, clusterIssuer: false },
      }),
    ).toBe(true);
    await eventually('it is reported as missing', () => batches.length === 2);
    expect([...(batches[1]?.secrets ?? [])]).toEqual([[`${namespace}/keys`, undefined]]);
    expect(batches[1]?.namespaces?.has(namespace)).toBe(true);
    await cluster.admin.apply(`
apiVersion: v1
kind: Secret
metadata: { name: keys, namespace: ${namespace}, labels: { gatehouse.dev/referable: 'true' } }
stringData: { current: value }
---
apiVersion: v1
kind: Secret
metadata: { name: others, namespace: ${namespace} }
`);
    await eventually('it is reported', () => batches.length === 3);
    const values = batches[2]?.secrets?.get(`${namespace}/keys`);
    expect(values).toEqual(new Map([['current', Buffer.from('value')]]));
    expect(batches[2]?.secrets?.size).toBe(1);
  });
});

function hasStatus(object: object | undefined): boolean {
  return object !== undefined && 'status' in object && 'url' in Object(object.status);
}
