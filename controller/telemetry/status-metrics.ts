import type { Gauge } from '../../shared/telemetry/metrics/gauge.ts';
import type { Histogram } from '../../shared/telemetry/metrics/histogram.ts';
import type { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';

/**
 * What came of writing a status:
 *
 * - `ok`: the API server has it
 * - `gone`: the resource does not exist any longer
 * - `refused`: the API server will never accept it
 * - `forbidden`: the process lacks the right
 * - `retry`: it is written again later
 */
export type StatusWriteOutcome = 'ok' | 'gone' | 'refused' | 'forbidden' | 'retry';

/** Seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of writing statuses. */
export class StatusMetrics {
  readonly #durations: Histogram<'kind' | 'outcome'>;
  readonly #pending: Gauge;

  constructor(registry: MetricsRegistry) {
    this.#durations = registry.histogram({
      name: 'gatehouse_controller_status_write_duration_seconds',
      help: 'Duration of writes of a status, by kind of the resource and outcome: `ok`, `gone`, `refused`, `forbidden` or `retry`.',
      labels: ['kind', 'outcome'],
      buckets: BUCKETS,
    });
    this.#pending = registry.gauge({
      name: 'gatehouse_controller_status_writes_pending',
      help: 'Statuses that wait to be written, or are being written. Only the leader writes.',
    });
  }

  written(kind: string, outcome: StatusWriteOutcome, seconds: number): void {
    this.#durations.observe({ kind, outcome }, seconds);
  }

  /** From now on, the number of statuses that wait is read from there. */
  readPendingFrom(read: () => number): void {
    this.#pending.readFrom(read);
  }
}
