import { describe, expect, test } from '@jest/globals';

import { formatMetrics } from '../../../../../shared/telemetry/metrics/format-metrics.ts';
import { MetricsRegistry } from '../../../../../shared/telemetry/metrics/metrics-registry.ts';
import { ProcessMetrics } from '../../../../../shared/telemetry/metrics/process-metrics.ts';
import { metricFaults } from '../../../../support/metrics/metric-faults.ts';
import { parseMetrics } from '../../../../support/metrics/parse-metrics.ts';
import { scrapeText } from '../../../../support/metrics/scrape.ts';

const help = 'A thing.';

describe('metrics', () => {
  test('counters, gauges and histograms are written as Prometheus reads them', async () => {
    const registry = new MetricsRegistry();
    const requests = registry.counter({ name: 'gatehouse_a_total', help, labels: ['route'] });
    requests.add({ route: 'team/files' }, 2);
    requests.cell({ route: 'team/files' }).value += 1;
    registry.gauge({ name: 'gatehouse_b', help }).set({}, 1.5);
    const times = registry.histogram({
      name: 'gatehouse_c_seconds',
      help,
      labels: ['route'],
      buckets: [0.5, 1],
    });
    for (const value of [0.25, 0.5, 0.75, 2]) times.observe({ route: 'x' }, value);
    expect(await scrapeText(registry)).toBe(`# HELP gatehouse_a_total A thing.
# TYPE gatehouse_a_total counter
gatehouse_a_total{route="team/files"} 3
# HELP gatehouse_b A thing.
# TYPE gatehouse_b gauge
gatehouse_b 1.5
# HELP gatehouse_c_seconds A thing.
# TYPE gatehouse_c_seconds histogram
gatehouse_c_seconds_bucket{le="0.5",route="x"} 2
gatehouse_c_seconds_bucket{le="1",route="x"} 3
gatehouse_c_seconds_bucket{le="+Inf",route="x"} 4
gatehouse_c_seconds_sum{route="x"} 3.5
gatehouse_c_seconds_count{route="x"} 4
`);
  });

  test('OpenMetrics names counters without their ending, and ends', async () => {
    const registry = new MetricsRegistry();
    registry.counter({ name: 'gatehouse_a_total', help }).add({});
    expect(await scrapeText(registry, 'openmetrics')).toBe(`# HELP gatehouse_a A thing.
# TYPE gatehouse_a counter
gatehouse_a_total 1
# EOF
`);
  });

  test('metrics without labels have a value before their first event', async () => {
    const registry = new MetricsRegistry();
    registry.counter({ name: 'gatehouse_a_total', help });
    registry.histogram({ name: 'gatehouse_b_seconds', help, buckets: [1] });
    registry.counter({ name: 'gatehouse_c_total', help, labels: ['x'] });
    const metrics = parseMetrics(await scrapeText(registry));
    expect([...metrics.keys()]).toEqual(['gatehouse_a_total', 'gatehouse_b_seconds']);
  });

  test('many samples of one metric are one group', async () => {
    const registry = new MetricsRegistry();
    const counter = registry.counter({ name: 'gatehouse_a_total', help, labels: ['route'] });
    for (let route = 0; route < 1_000; route += 1) counter.add({ route: String(route) }, route);
    const samples = parseMetrics(await scrapeText(registry)).get('gatehouse_a_total')?.samples;
    expect(samples?.map(({ value }) => value)).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
  });

  test('other work runs while many samples are written', async () => {
    const registry = new MetricsRegistry();
    const counter = registry.counter({ name: 'gatehouse_a_total', help, labels: ['route'] });
    for (let route = 0; route < 100_000; route += 1) counter.add({ route: String(route) });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    await scrapeText(registry);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });

  test('a metric whose cells are deleted while it is written stays well formed', async () => {
    const registry = new MetricsRegistry();
    const counter = registry.counter({ name: 'gatehouse_a_total', help, labels: ['route'] });
    for (let route = 0; route < 2_000; route += 1) counter.add({ route: String(route) });
    let text = '';
    for await (const piece of formatMetrics(registry.families, 'prometheus')) {
      for (let route = 0; route < 2_000; route += 2) counter.delete({ route: String(route) });
      text += piece;
    }
    expect(metricFaults(parseMetrics(text).values())).toEqual([]);
  });

  test('labels keep quotes, backslashes and line breaks, and differ where their texts do', async () => {
    const registry = new MetricsRegistry();
    const counter = registry.counter({ name: 'gatehouse_a_total', help, labels: ['x', 'y'] });
    const values = [
      { x: 'a"b\\n\n', y: '' },
      { x: '","', y: 'y' },
      { x: '"', y: '","y' },
    ];
    for (const labels of values) counter.add(labels);
    const samples = parseMetrics(await scrapeText(registry)).get('gatehouse_a_total')?.samples;
    expect(samples?.map(({ labels }) => labels)).toEqual(values);
  });

  test('values can be read from where they are kept', async () => {
    const registry = new MetricsRegistry();
    const kept: { value?: number } = {};
    registry.counter({ name: 'gatehouse_a_total', help }).readFrom(() => 7);
    registry.gauge({ name: 'gatehouse_b', help }).readFrom(() => kept.value);
    registry
      .gauge({ name: 'gatehouse_c', help, labels: ['x'] })
      .readFrom(() => [{ labels: { x: '1' }, value: 2 }]);
    expect(await scrapeText(registry)).not.toContain('gatehouse_b');
    kept.value = 3;
    const metrics = parseMetrics(await scrapeText(registry));
    const values = [...metrics.values()].flatMap(({ samples }) =>
      samples.map(({ value }) => value),
    );
    expect(values).toEqual([7, 3, 2]);
  });

  test.each(['requests_total', 'gatehouse_Requests_total', 'gatehouse_requests'])(
    'a counter cannot have the name %s',
    (name) => {
      expect(() => new MetricsRegistry().counter({ name, help })).toThrow(name);
    },
  );

  test('no two metrics have one name', () => {
    const registry = new MetricsRegistry();
    registry.gauge({ name: 'gatehouse_a', help });
    expect(() => registry.gauge({ name: 'gatehouse_a', help })).toThrow('two metrics gatehouse_a');
  });
});

describe('the metrics of a process', () => {
  test('follow the rules for metrics, and measure this process', async () => {
    const registry = new MetricsRegistry();
    const measuring = new ProcessMetrics(registry).measure({
      version: '1.2.3',
      lines: { dropped: { ordinary: 3, audit: 1 } },
      tracer: { exported: 5, dropped: 2 },
    });
    const metrics = parseMetrics(await scrapeText(registry));
    measuring[Symbol.dispose]();
    expect(metricFaults(metrics.values())).toEqual([]);
    const [build] = metrics.get('gatehouse_build_info')?.samples ?? [];
    expect(build?.labels).toEqual({ version: '1.2.3', node: process.versions.node });
    const valuesOf = (name: string): readonly (number | undefined)[] =>
      metrics.get(name)?.samples.map(({ value }) => value) ?? [];
    expect(valuesOf('gatehouse_log_lines_dropped_total')).toEqual([3, 1]);
    expect(valuesOf('gatehouse_spans_total')).toEqual([5, 2]);
    const [memory] = metrics.get('gatehouse_process_resident_memory_bytes')?.samples ?? [];
    expect(memory?.value).toBeGreaterThan(10_000_000);
  });
});
