import type { Counter } from '../../../shared/telemetry/metrics/counter.ts';
import type { Histogram } from '../../../shared/telemetry/metrics/histogram.ts';
import type { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import type { OutboundKind, OutboundObserver } from '../../outbound/outbound-calls.ts';

/** The metrics of calls to other servers than upstreams. */
export class OutboundMetrics implements OutboundObserver {
  readonly #calls: Counter<'kind' | 'operation' | 'outcome'>;
  readonly #durations: Histogram<'kind' | 'operation'>;

  constructor(registry: MetricsRegistry) {
    this.#calls = registry.counter({
      name: 'gatehouse_outbound_calls_total',
      help: 'Calls to identity providers (`provider`), to authorization servers of upstreams (`upstream-oauth`), and for documents of clients (`client-metadata`). `outcome` is the class of the status, such as `2xx`, or why there was no response.',
      labels: ['kind', 'operation', 'outcome'],
    });
    this.#durations = registry.histogram({
      name: 'gatehouse_outbound_call_duration_seconds',
      help: 'Duration of these calls, however they ended.',
      labels: ['kind', 'operation'],
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    });
  }

  observe(kind: OutboundKind, operation: string, outcome: string, seconds: number): void {
    this.#calls.add({ kind, operation, outcome: classOf(outcome) });
    this.#durations.observe({ kind, operation }, seconds);
  }
}

/** Servers choose the status: there are 900. */
function classOf(outcome: string): string {
  return outcome.replace(/^status-(\d).*$/, '$1xx');
}
