import { ProxyMetrics } from '../../../proxy/telemetry/metrics/proxy-metrics.ts';
import { startAdminServer } from '../../../shared/admin/admin-server.ts';
import { createLogger } from '../../../shared/telemetry/logger.ts';
import { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import { ProcessMetrics } from '../../../shared/telemetry/metrics/process-metrics.ts';
import type { LineWriter } from '../../../shared/telemetry/line-writer.ts';
import { createTracer } from '../../../shared/telemetry/tracing/create-tracer.ts';
import type { Tracer } from '../../../shared/telemetry/tracing/tracer.ts';
import { tracingSettings } from '../../support/tracing/recorded-spans.ts';

/** Starts a tracer that exports to a collector, with the defaults of all other settings. */
export function startBenchTracer(
  collector: string,
  samplingRatio: number,
  lines: LineWriter,
): Tracer {
  const logger = createLogger('bench', lines);
  const tracer = createTracer({ service: 'gatehouse', instance: 'bench', logger });
  tracer.apply(tracingSettings({ endpoint: `${collector}/v1/traces`, samplingRatio }));
  return tracer;
}

/** Metrics of a gateway, and the port where they are read. */
export interface BenchMetrics {
  readonly metrics: ProxyMetrics;
  readonly adminPort: number;
}

/** Makes the metrics of a gateway, and serves them on an admin port. */
export async function serveBenchMetrics(lines: LineWriter): Promise<BenchMetrics> {
  const registry = new MetricsRegistry();
  const metrics = new ProxyMetrics(registry);
  const tracer = { exported: 0, dropped: 0 };
  new ProcessMetrics(registry).measure({ version: 'bench', lines, tracer });
  const sources = { isReady: () => true, snapshot: () => undefined };
  const logger = createLogger('bench', lines);
  const listen = { host: '127.0.0.1', port: 0 };
  const { address } = await startAdminServer(listen, sources, { metrics: registry, logger });
  return { metrics, adminPort: address.port };
}
