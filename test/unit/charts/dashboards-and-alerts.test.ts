import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { AUDIT_EVENTS } from '../../../proxy/telemetry/audit-log.ts';
import { metricsByTable } from '../../support/metrics/metric-sources.ts';
import { runPromtool } from '../../support/metrics/promtool.ts';
import {
  labelsOfQuery,
  queryFaults,
  type KnownMetrics,
} from '../../support/metrics/query-faults.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface AlertGroup {
  readonly name: string;
  readonly rules: readonly Alert[];
}

// Both are files of this project, and the tests fail if they do not have these forms.
const { panels, templating } = JSON.parse(
  read('charts/gatehouse/dashboards/gatehouse.json'),
) as Dashboard;
const ALERTS = join(ROOT, 'charts/gatehouse/alerts/gatehouse.yaml');
const { groups } = parse(read('charts/gatehouse/alerts/gatehouse.yaml')) as {
  readonly groups: readonly AlertGroup[];
};
const alerts = groups.flatMap(({ rules }) => rules);

const KNOWN: KnownMetrics = {
  families: [...metricsByTable().values()].flat(),
  valuesOf: (family, label) => {
    if (label === 'event') return AUDIT_EVENTS;
    const listed = label === 'reason' ? read('docs/refusals.md') : '';
    return codesIn(family.help + listed);
  },
};

/** The values of labels stand in the meaning of a metric, as code. */
function codesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

describe('the dashboard', () => {
  const targets = panels.flatMap(({ title, targets: all = [] }) =>
    all.map((target) => ({ title, ...target })),
  );

  test.each(targets)(
    'panel $title asks for what exists: $legendFormat',
    ({ expr, legendFormat }) => {
      expect(queryFaults(expr, KNOWN)).toEqual([]);
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      expect(labelsOfQuery(expr, KNOWN)).toEqual(expect.arrayContaining(shown));
    },
  );

  test.each(templating.list.flatMap(({ definition }) => definition ?? []))(
    'variable %s asks for what exists',
    (definition) => {
      const [, query = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      expect(queryFaults(query, KNOWN)).toEqual([]);
      expect(labelsOfQuery(query, KNOWN)).toContain(label);
    },
  );

  test('has one place for each panel', () => {
    const ids = panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const places = panels.map(({ gridPos: { x, y } }) => `${String(x)} ${String(y)}`);
    expect(new Set(places).size).toBe(places.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });
});

describe('the alerts', () => {
  test.each(alerts)('$alert asks for what exists', ({ expr, annotations }) => {
    expect(queryFaults(expr, KNOWN)).toEqual([]);
    const text = Object.values(annotations).join(' ');
    const shown = [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    expect(labelsOfQuery(expr, KNOWN)).toEqual(expect.arrayContaining(shown));
  });

  test.each(alerts)('$alert says how bad it is, and what to do', (alert) => {
    expect(alert.alert).toMatch(/^Gatehouse([A-Z][a-z]+)+$/);
    expect(['critical', 'warning']).toContain(alert.labels['severity']);
    expect(alert.for ?? '1m').toMatch(/^\d+m$/);
    expect(Object.keys(alert.annotations).sort()).toEqual(['description', 'summary']);
    expect(alert.annotations['description']).toMatch(/\.$/);
  });

  test('are rules that promtool accepts', () => {
    expect(runPromtool(['check', 'rules', ALERTS])).toBe('');
  });

  test('have names of their own', () => {
    const names = alerts.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a query', () => {
  test.each([
    {
      query: 'rate(gatehouse_request_total[5m])',
      fault: 'there is no metric gatehouse_request_total',
    },
    {
      query: 'gatehouse_gc_duration_seconds',
      fault: 'there is no metric gatehouse_gc_duration_seconds',
    },
    { query: 'gatehouse_routes{path="/"}', fault: 'gatehouse_routes has no label path' },
    { query: 'rate(gatehouse_routes[5m])', fault: 'gatehouse_routes is a gauge' },
    { query: 'sum by (user) (gatehouse_routes)', fault: 'no metric has user' },
    {
      query: 'gatehouse_requests_total{status="500"}',
      fault: 'status of gatehouse_requests_total is never 500',
    },
    {
      query: 'gatehouse_streams{kind=~"events|sockets"}',
      fault: 'kind of gatehouse_streams is never events|sockets',
    },
    {
      query: 'histogram_quantile(0.9, rate(gatehouse_gc_duration_seconds_bucket[5m]))',
      fault: 'a quantile needs le',
    },
    { query: 'sum(gatehouse_routes', fault: 'the brackets do not match' },
    { query: 'up', fault: 'there is no metric' },
  ])('$query is refused', ({ query, fault }) => {
    expect(queryFaults(query, KNOWN)).toEqual([fault]);
  });
});
