import type { Histogram } from '../../../shared/telemetry/metrics/histogram.ts';
import type { Gauge } from '../../../shared/telemetry/metrics/gauge.ts';
import type { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';

/** The metrics of the stores in Redis. A gateway with its state in memory has none. */
export class RedisMetrics {
  readonly #isReachable: Gauge;
  readonly #durations: Histogram<'outcome'>;

  constructor(registry: MetricsRegistry) {
    this.#isReachable = registry.gauge({
      name: 'gatehouse_redis_reachable',
      help: '1 while Redis can be reached, else 0; with state in Redis only.',
    });
    this.#isReachable.readFrom(() => undefined);
    this.#durations = registry.histogram({
      name: 'gatehouse_redis_command_duration_seconds',
      help: 'Duration of commands to Redis. `outcome` is `ok` or `failed`; while Redis cannot be reached, commands fail at once.',
      labels: ['outcome'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1],
    });
  }

  /** From now on, shows whether Redis can be reached. */
  show(isReachable: () => boolean): void {
    this.#isReachable.readFrom(() => (isReachable() ? 1 : 0));
  }

  observe(outcome: 'ok' | 'failed', seconds: number): void {
    this.#durations.observe({ outcome }, seconds);
  }
}
