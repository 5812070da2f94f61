import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';

import { describeChart } from '../support/chart/describe-chart.ts';
import {
  CHART,
  findObject,
  renderChart,
  runHelm,
  WITH_PROMETHEUS_OPERATOR,
  type RenderedObject,
} from '../support/chart/helm.ts';

const ROOT = join(import.meta.dirname, '../..');
const DEFINITIONS = ['routes', 'gatewaysettings'];
const KEEP = { 'helm.sh/resource-policy': 'keep' };

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The objects of rbac.yaml that give rights. */
const RIGHTS = parseAllDocuments(read('controller/manifests/rbac.yaml'))
  // Manifests of this project.
  .map((document) => document.toJS() as RenderedObject)
  .filter(({ kind }) => kind !== 'ServiceAccount');

describe('the chart', () => {
  test.each(DEFINITIONS)('has the definition of %s as it is in crds/', (plural) => {
    expect(read(`charts/gatehouse/files/crds/${plural}.yaml`)).toBe(read(`crds/${plural}.yaml`));
  });
});

describeChart('what the chart renders', () => {
  test.each(DEFINITIONS)('is the definition of %s, which an uninstallation keeps', (plural) => {
    const name = `${plural}.gatehouse.dev`;
    const { metadata, ...content } = findObject(renderChart({}), 'CustomResourceDefinition', name);
    const written = parse(read(`crds/${plural}.yaml`)) as RenderedObject;

    expect(content).toEqual({ ...written, metadata: undefined });
    expect(metadata).toMatchObject({ name, annotations: KEEP });
    const notKept = findObject(
      renderChart({ crds: { keep: false } }),
      'CustomResourceDefinition',
      name,
    );
    expect(notKept.metadata.annotations).toBeUndefined();
  });

  test.each(RIGHTS)('has the rights of $kind $metadata.name in rbac.yaml', (written) => {
    const rendered = findObject(renderChart({}), written.kind, written.metadata.name);
    const { rules, roleRef, subjects } = written;

    expect(rendered.metadata.namespace).toBe(written.metadata.namespace);
    expect({
      rules: rendered['rules'],
      roleRef: rendered['roleRef'],
      subjects: rendered['subjects'],
    }).toEqual({ rules, roleRef, subjects });
  });

  test('gives controllers no other rights than rbac.yaml does', () => {
    const names = renderChart({})
      .filter(
        ({ kind, metadata }) => kind.includes('Role') && metadata.name.includes('-controller'),
      )
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names.sort()).toEqual(
      RIGHTS.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort(),
    );
  });

  test('names Lease and ConfigMap of another class as controllers do', () => {
    const [{ rules } = { rules: [] }] = renderChart({ gatewayClassName: 'internal' }).filter(
      ({ kind, metadata }) => kind === 'Role' && metadata.name === 'gatehouse-controller',
    );
    const names = (rules as readonly { readonly resourceNames?: readonly string[] }[]).flatMap(
      ({ resourceNames = [] }) => resourceNames,
    );
    expect(names).toEqual(['gatehouse-hosts-internal', 'gatehouse-controller-internal']);
  });

  test('has the alerts and the dashboard of the chart', () => {
    const on = { metrics: { prometheusRule: { enabled: true }, dashboard: { enabled: true } } };
    const objects = renderChart(on, WITH_PROMETHEUS_OPERATOR);
    const alerts = findObject(objects, 'PrometheusRule', 'gatehouse');
    const dashboard = findObject(objects, 'ConfigMap', 'gatehouse-dashboard');

    expect(alerts['spec']).toEqual(parse(read('charts/gatehouse/alerts/gatehouse.yaml')));
    const { 'gatehouse.json': text = '' } = dashboard['data'] as Record<string, string>;
    expect(JSON.parse(text)).toEqual(
      JSON.parse(read('charts/gatehouse/dashboards/gatehouse.json')),
    );
  });
});

describeChart('helm lint --strict', () => {
  test('finds nothing', () => {
    expect(runHelm(['lint', '--strict', CHART])).toMatchObject({ code: 0 });
  });
});
