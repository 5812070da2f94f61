import type { Counter } from '../../shared/telemetry/metrics/counter.ts';
import type { Gauge } from '../../shared/telemetry/metrics/gauge.ts';
import type { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';

/** The metrics of leadership. */
export class LeaderMetrics {
  readonly #leading: Gauge;
  readonly #terms: Counter;

  constructor(registry: MetricsRegistry) {
    this.#leading = registry.gauge({
      name: 'gatehouse_controller_leading',
      help: '1 if this controller leads, otherwise 0. The sum over all controllers of a gateway is 1.',
    });
    this.#terms = registry.counter({
      name: 'gatehouse_controller_leaderships_total',
      help: 'How often this controller became the leader.',
    });
  }

  /** Counts a leadership that begins. */
  began(): void {
    this.#terms.add({});
  }

  /** From now on, whether this controller leads is read from there. */
  readFrom(isLeading: () => boolean): void {
    this.#leading.readFrom(() => (isLeading() ? 1 : 0));
  }
}
