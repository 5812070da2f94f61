import type { Histogram } from '../../shared/telemetry/metrics/histogram.ts';
import type { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';

/** What a request asks of the API server, as in `KubernetesApi`. */
export type ApiVerb =
  'list' | 'watch' | 'get' | 'create' | 'replace' | 'apply-status' | 'read-issuer';

/**
 * How the API server answered a request:
 *
 * - `ok`: it did what was asked; a watch is open
 * - `not-found`, `conflict`: 404 and 409, which are part of normal work
 * - `forbidden`: 401 and 403
 * - `throttled`: 429
 * - `refused`: any other status below 500
 * - `failed`: 500 and above
 * - `unreachable`: there was no response, or none that can be read
 * - `cancelled`: this process no longer wanted one
 */
export type ApiOutcome =
  | 'ok'
  | 'not-found'
  | 'conflict'
  | 'forbidden'
  | 'throttled'
  | 'refused'
  | 'failed'
  | 'unreachable'
  | 'cancelled';

/** Seconds; a write takes milliseconds, and a request is given up after 30 s. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of requests to the API server. */
export class ApiMetrics {
  readonly #durations: Histogram<'verb' | 'outcome'>;

  constructor(registry: MetricsRegistry) {
    this.#durations = registry.histogram({
      name: 'gatehouse_controller_api_request_duration_seconds',
      help: 'Duration of requests to the API server by verb and outcome: `ok`, `not-found`, `conflict`, `forbidden`, `throttled` (429), `refused`, `failed` (5xx), `unreachable` or `cancelled`. That of a watch ends when the watch is open.',
      labels: ['verb', 'outcome'],
      buckets: BUCKETS,
    });
  }

  answered(verb: ApiVerb, outcome: ApiOutcome, seconds: number): void {
    this.#durations.observe({ verb, outcome }, seconds);
  }
}
