import type { ScrapedMetric, ScrapedSample } from './parse-metrics.ts';

/**
 * Returns what is wrong with the metrics of a scrape, by the rules of `promtool check metrics` and those
 * of docs/metrics.md; nothing if all is well.
 */
export function metricFaults(metrics: Iterable<ScrapedMetric>): readonly string[] {
  return [...metrics].flatMap((metric) =>
    [...nameFaults(metric), ...sampleFaults(metric), ...histogramFaults(metric)].map(
      (fault) => `${metric.name}: ${fault}`,
    ),
  );
}

/** Units that are not base units, and abbreviations of units. */
const WRONG_UNITS =
  /_(ms|s|sec|secs|milliseconds|microseconds|nanoseconds|minutes|hours|days|kb|mb|kilobytes|megabytes|bits|percent)(_|$)/;

function* nameFaults({ name, type, help }: ScrapedMetric): Iterable<string> {
  if (!/^gatehouse(_[a-z0-9]+)+$/.test(name)) yield 'the name is not snake_case with our prefix';
  if (WRONG_UNITS.test(name)) yield 'the unit is not a base unit';
  if ((type === 'counter') !== name.endsWith('_total')) yield '_total is for counters';
  if (/_(count|sum|bucket|info_total)$/.test(name))
    yield 'the name ends like a line of a histogram';
  if (name.split('_').includes(type)) yield 'the name holds its type';
  if (!help.endsWith('.')) yield 'the help is no sentence';
}

function* sampleFaults({ name, type, samples }: ScrapedMetric): Iterable<string> {
  if (samples.length === 0) yield 'there are no samples';
  const seen = new Set<string>();
  for (const sample of samples) {
    const id = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
    if (seen.has(id)) yield `two samples ${id}`;
    seen.add(id);
    const suffix = sample.name.slice(name.length);
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    if (!sample.name.startsWith(name) || !suffixes.includes(suffix))
      yield `a sample ${sample.name}`;
    if ('le' in sample.labels !== (suffix === '_bucket')) yield 'le is for buckets';
    if (type !== 'gauge' && sample.value < 0) yield 'a value is below 0';
    if (Object.values(sample.labels).includes('undefined')) yield 'a label has no value';
  }
}

function* histogramFaults({ name, type, samples }: ScrapedMetric): Iterable<string> {
  if (type !== 'histogram') return;
  for (const cell of Map.groupBy(samples, cellOf).values()) {
    const buckets = cell.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels: { le } }) => (le === '+Inf' ? Infinity : Number(le)));
    if (bounds.at(-1) !== Infinity) yield 'the last bucket has a bound';
    if (!isAscending(bounds)) yield 'the bounds are not ascending';
    const counts = buckets.map(({ value }) => value);
    if (counts.some((count, index) => count < (counts[index - 1] ?? 0))) yield 'a count goes down';
    const count = cell.find((sample) => sample.name === `${name}_count`)?.value;
    if (count !== counts.at(-1)) yield 'the count is not that of the last bucket';
    if (!cell.some((sample) => sample.name === `${name}_sum`)) yield 'there is no sum';
  }
}

function cellOf({ labels }: ScrapedSample): string {
  const own = Object.entries(labels).filter(([name]) => name !== 'le');
  return JSON.stringify(own.sort());
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? number));
}
