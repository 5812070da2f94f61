import type { MetricFamily } from '../../../shared/telemetry/metrics/metric-family.ts';
import { metricsByTable } from '../metrics/metric-sources.ts';
import { withTables } from './document-tables.ts';

/** Returns docs/metrics.md with its tables of metrics. Throws if one of them has no place. */
export function withMetricTables(document: string): string {
  const tables = [...metricsByTable()].map(
    ([name, families]) => [name, tableOf(families)] as const,
  );
  return withTables(document, Object.fromEntries(tables));
}

function tableOf(families: readonly MetricFamily[]): string {
  const rows = families.map(
    ({ name, kind, labels, help }) => `| \`${name}\` | ${kind} | ${labelsOf(labels)} | ${help} |`,
  );
  return ['| Metric | Kind | Labels | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function labelsOf(labels: readonly string[]): string {
  return labels.map((label) => `\`${label}\``).join(', ');
}
