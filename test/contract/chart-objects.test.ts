import { spawnSync } from 'node:child_process';

import { beforeAll, expect, test } from '@jest/globals';

import {
  KUBECTL,
  noHelmReason,
  renderChart,
  WITH_PROMETHEUS_OPERATOR,
  type RenderedObject,
} from '../support/chart/helm.ts';
import { podsOf } from '../support/chart/pods.ts';
import { VALUE_SETS } from '../support/chart/value-sets.ts';
import { mustSkip } from '../support/describe-unless.ts';
import { describeWithClusters } from '../support/kubernetes/describe-with-clusters.ts';
import { openForAll } from '../support/open-for-all.ts';

/** Kinds of the Prometheus Operator, which is not installed. */
const UNKNOWN_KINDS = ['PodMonitor', 'PrometheusRule'];

const isWithoutHelm = mustSkip(noHelmReason);

// The fake knows only the kinds that controllers use.
describeWithClusters(['tables'], 'what the chart renders', (openCluster) => {
  const cluster = openForAll(openCluster);
  const sets = isWithoutHelm
    ? []
    : VALUE_SETS.map(({ name, values }) => ({
        name,
        objects: renderChart(values, WITH_PROMETHEUS_OPERATOR)
          .filter(({ kind }) => !UNKNOWN_KINDS.includes(kind))
          .map(withoutAddresses),
      }));

  const apply = (objects: readonly object[], ...flags: readonly string[]): string => {
    const { adminKubeconfig } = cluster();
    const argv = ['apply', '--kubeconfig', adminKubeconfig, '--server-side', '--force-conflicts'];
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    const { status, stderr } = spawnSync(KUBECTL, [...argv, '--filename', '-', ...flags], {
      input,
      encoding: 'utf8',
    });
    return status === 0 ? '' : stderr;
  };

  beforeAll(() => {
    const all = sets.flatMap(({ objects }) => objects);
    const namespaces = all.flatMap(({ metadata: { namespace } }) => namespace ?? []);
    const accounts = podsOf(all)
      .filter(({ owner }) => owner.startsWith('Pod '))
      .map(({ namespace, spec }) => ({ namespace, name: spec.serviceAccountName }));
    const needed = [
      ...[...new Set(namespaces)].map((name) => of('Namespace', { name })),
      ...accounts.map((metadata) => of('ServiceAccount', metadata)),
    ];
    if (needed.length > 0 && apply(needed) !== '') throw new Error(apply(needed));
  });

  test.each(sets.length === 0 ? [{ name: 'nothing', objects: [] }] : sets)(
    'is accepted with no unknown field, for $name',
    ({ objects }) => {
      expect(objects.length === 0 ? '' : apply(objects, '--dry-run=server')).toBe('');
    },
  );
});

function of(kind: string, metadata: object): object {
  return { apiVersion: 'v1', kind, metadata };
}

/** Addresses are the cluster's own. */
function withoutAddresses(object: RenderedObject): RenderedObject {
  if (object.kind !== 'Service') return object;
  const spec = Object.entries(object['spec'] as object).filter(
    ([member]) => !/^(ipFamil|clusterIP)/.test(member),
  );
  return { ...object, spec: Object.fromEntries(spec) };
}
