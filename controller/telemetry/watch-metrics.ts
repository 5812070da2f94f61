import type { Counter } from '../../shared/telemetry/metrics/counter.ts';
import type { Gauge } from '../../shared/telemetry/metrics/gauge.ts';
import type { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';

/** The state of the watch of one resource type, of which there may be several. */
export interface WatchReading {
  /** Plural name of the type. */
  readonly resource: string;
  /** When the API server last sent something, in milliseconds since 1970; absent: never. */
  readonly activeAt?: number;
  /** Why the watch does not work, as in `WatchProblem`. Absent while it works. */
  readonly problem?: string;
}

/** The metrics of watches of the API server. */
export class WatchMetrics {
  readonly #restarts: Counter<'resource' | 'reason'>;
  readonly #lastActivity: Gauge<'resource'>;
  readonly #failing: Gauge<'resource' | 'problem'>;

  constructor(registry: MetricsRegistry) {
    this.#restarts = registry.counter({
      name: 'gatehouse_controller_watch_restarts_total',
      help: 'Watches that ended and were opened again, by resource type and reason: `ended` (by plan, every few minutes) or `failed` (a list that failed, too).',
      labels: ['resource', 'reason'],
    });
    this.#lastActivity = registry.gauge({
      name: 'gatehouse_controller_watch_last_activity_timestamp_seconds',
      help: 'When the API server last sent something on the watches of a resource type, for the one that was silent longest. A working watch is silent for a minute or two.',
      labels: ['resource'],
    });
    this.#failing = registry.gauge({
      name: 'gatehouse_controller_failing_watches',
      help: 'Watches that do not work, by resource type and problem: `unavailable`, `unauthorized`, `forbidden` or `not-installed`.',
      labels: ['resource', 'problem'],
    });
  }

  /** Counts a watch that ended, and is opened again. */
  ended(resource: string, reason: 'ended' | 'failed'): void {
    this.#restarts.add({ resource, reason });
  }

  /** From now on, the state of watches is read from there. */
  readFrom(read: () => readonly WatchReading[]): void {
    this.#lastActivity.readFrom(() => lastActivityOf(read()));
    this.#failing.readFrom(() => failingOf(read()));
  }
}

function* lastActivityOf(readings: readonly WatchReading[]) {
  for (const [resource, group] of byResource(readings)) {
    const times = group.flatMap(({ activeAt }) => activeAt ?? []);
    if (times.length > 0) yield { labels: { resource }, value: Math.min(...times) / 1000 };
  }
}

function* failingOf(readings: readonly WatchReading[]) {
  for (const [resource, group] of byResource(readings)) {
    const problems = Map.groupBy(group, ({ problem }) => problem);
    for (const [problem, failing] of problems) {
      if (problem !== undefined) yield { labels: { resource, problem }, value: failing.length };
    }
  }
}

function byResource(readings: readonly WatchReading[]): ReadonlyMap<string, WatchReading[]> {
  return Map.groupBy(readings, ({ resource }) => resource);
}
