import { formatDefault, readChartValues, type ChartValue } from './chart-values.ts';
import { withTables } from './document-tables.ts';

/** Returns the README of the chart with a table of its values. */
export function withValueTables(document: string, values: string): string {
  const all = readChartValues(values);
  const groups = Map.groupBy(all, ({ path }) => (path.includes('.') ? path.split('.')[0] : ''));
  const parts = [...groups].map(([group = '', members]) =>
    [`### ${group === '' ? 'General' : group}`, '', table(members)].join('\n'),
  );
  return withTables(document, { values: parts.join('\n\n') });
}

function table(values: readonly ChartValue[]): string {
  const rows = values.map(
    ({ path, defaultValue, description }) =>
      `| \`${path}\` | ${formatDefault(defaultValue)} | ${description.replaceAll('|', '\\|')} |`,
  );
  return ['| Value | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
