import { expect, test } from '@jest/globals';

import { describeChart } from '../support/chart/describe-chart.ts';
import { renderChart, WITH_PROMETHEUS_OPERATOR } from '../support/chart/helm.ts';
import { podsOf, referencesOf } from '../support/chart/pods.ts';
import { securityFaults } from '../support/chart/restricted-pods.ts';
import { VALUE_SETS } from '../support/chart/value-sets.ts';

/** What the Job makes, and what the values name as existing. */
const MADE_ELSEWHERE = [
  /^Secret gatehouse\/(gatehouse|gate)-push$/,
  /^Secret (gatehouse|gatehouse-proxy|edge)\/(gatehouse|gate)-(sealing-keys|redis)$/,
  /^ConfigMap (gatehouse|gatehouse-proxy|edge)\/(gatehouse|gate)-push-ca$/,
  /^(Secret|ConfigMap|ServiceAccount) (gatehouse|edge)\/my-/,
  /^Secret gatehouse-proxy\/redis-of-the-gateway$/,
];

interface Container {
  readonly args?: readonly string[];
  readonly env?: readonly { readonly value?: string }[];
}

describeChart('what the chart renders', () => {
  const sets = VALUE_SETS.map(({ name, values }) => ({
    name,
    objects: renderChart(values, WITH_PROMETHEUS_OPERATOR),
  }));

  test.each(sets)('has each object of $name once', ({ objects }) => {
    const names = objects.map(
      ({ kind, metadata: { name, namespace = '' } }) => `${kind} ${namespace}/${name}`,
    );
    expect(names).toEqual([...new Set(names)]);
  });

  test.each(sets)('has pods that the restricted standard admits, with $name', ({ objects }) => {
    const faults = podsOf(objects).flatMap((pod) => securityFaults(pod));
    // Containers of values are whoever wrote them's.
    expect(faults.filter((fault) => !/ (beside|before):/.test(fault))).toEqual([]);
  });

  test.each(sets)('refers to what exists, with $name', ({ objects }) => {
    const exists = new Set(
      objects.map(({ kind, metadata: { namespace = '', name } }) => `${kind} ${namespace}/${name}`),
    );
    const missing = podsOf(objects)
      .flatMap((pod) => referencesOf(pod))
      .filter((reference) => !exists.has(reference))
      .filter((reference) => !MADE_ELSEWHERE.some((pattern) => pattern.test(reference)));
    expect(missing).toEqual([]);
  });

  // Attack: texts that YAML reads as numbers, as nothing, or as more YAML.
  test('has names and arguments that are texts, whatever the values are', () => {
    const values = {
      fullnameOverride: 'true',
      gatewayClassName: 'true',
      settings: { name: 'null' },
      secrets: { pushTls: { rotation: 'key: leaked #2\n- --namespace=other' } },
    };
    const objects = renderChart(values, { release: '123', namespace: '456' });
    const pods = podsOf(objects).flatMap(({ spec }) => spec.containers as readonly Container[]);
    const texts = [
      ...objects.flatMap(({ metadata: { name, namespace = '', labels, annotations = {} } }) => [
        name,
        namespace,
        ...Object.values(labels),
        ...Object.values(annotations),
      ]),
      ...pods.flatMap(({ args = [], env = [] }) => [...args, ...env.map((one) => one.value ?? '')]),
    ];

    expect(texts.filter((text) => typeof text !== 'string')).toEqual([]);
    expect(pods.flatMap(({ args = [] }) => args)).toContain(
      '--push-rotation=key: leaked #2\n- --namespace=other',
    );
  });
});
