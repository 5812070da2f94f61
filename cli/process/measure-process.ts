import { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';
import {
  ProcessMetrics,
  type ProcessParts,
} from '../../shared/telemetry/metrics/process-metrics.ts';
import { readVersion } from '../read-version.ts';

/** The metrics of a process. Disposing of it ends the measurements. */
export interface MeasuredProcess extends Disposable {
  readonly metrics: MetricsRegistry;
}

/** Begins to measure this process, and returns the registry for its other metrics. */
export async function measureProcess(
  parts: Omit<ProcessParts, 'version'>,
): Promise<MeasuredProcess> {
  const version = await readVersion();
  const metrics = new MetricsRegistry();
  const measuring = new ProcessMetrics(metrics).measure({ ...parts, version });
  return { metrics, [Symbol.dispose]: () => measuring[Symbol.dispose]() };
}
