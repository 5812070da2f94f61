import { ControllerMetrics } from '../../../controller/telemetry/controller-metrics.ts';
import { ProxyMetrics } from '../../../proxy/telemetry/metrics/proxy-metrics.ts';
import type { MetricFamily } from '../../../shared/telemetry/metrics/metric-family.ts';
import { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import { ProcessMetrics } from '../../../shared/telemetry/metrics/process-metrics.ts';

type Define = (registry: MetricsRegistry) => unknown;

/** Defines the metrics of each table in docs/metrics.md, by the name of the table. */
const SOURCES: Readonly<Record<string, Define>> = {
  process: (registry) => new ProcessMetrics(registry),
  proxy: (registry) => new ProxyMetrics(registry),
  controller: (registry) => new ControllerMetrics(registry),
};

/** Returns all metrics of the project by their tables. */
export function metricsByTable(): ReadonlyMap<string, readonly MetricFamily[]> {
  return new Map(
    Object.entries(SOURCES).map(([table, define]) => {
      const registry = new MetricsRegistry();
      define(registry);
      return [table, [...registry.families]];
    }),
  );
}
