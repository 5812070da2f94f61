import type { Gauge } from '../../shared/telemetry/metrics/gauge.ts';
import type { Histogram } from '../../shared/telemetry/metrics/histogram.ts';
import type { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';

/**
 * What came of a compilation:
 *
 * - `changed`: snapshot resources changed
 * - `unchanged`: none did; verdicts may have
 * - `obstacle`: nothing may be published, because the settings cannot be used
 * - `failed`: the compiler threw an error, and the process ends
 */
export type CompileOutcome = 'changed' | 'unchanged' | 'obstacle' | 'failed';

/** What the compiler decided about a Route, from best to worst. */
export const VERDICT_CLASSES = ['accepted', 'last-good', 'waiting', 'rejected'] as const;

/**
 * What the compiler decided about a Route:
 *
 * - `accepted`: the newest generation serves
 * - `last-good`: an earlier generation, or an earlier state of the same, serves
 * - `waiting`: it serves once the settings allow it
 * - `rejected`: nothing of it serves
 */
export type VerdictClass = (typeof VERDICT_CLASSES)[number];

/** Seconds: from one Route to all of 10,000. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** The metrics of compiling. */
export class CompileMetrics {
  /** The number of Routes of this gateway by what the compiler decided about them. */
  readonly routes: Gauge<'verdict'>;
  /** The number of problems with the newest generations of resources. */
  readonly problems: Gauge<'kind' | 'reason'>;
  readonly #durations: Histogram<'outcome'>;
  readonly #heldBack: Gauge;

  constructor(registry: MetricsRegistry) {
    this.#durations = registry.histogram({
      name: 'gatehouse_controller_compile_duration_seconds',
      help: 'Duration of compilations of a batch of changes, by outcome: `changed`, `unchanged`, `obstacle` (settings that cannot be used) or `failed`.',
      labels: ['outcome'],
      buckets: BUCKETS,
    });
    this.routes = registry.gauge({
      name: 'gatehouse_controller_routes',
      help: 'Routes of this gateway by verdict: `accepted`, `last-good` (an earlier generation serves), `waiting` (for the settings to allow it) or `rejected` (nothing serves).',
      labels: ['verdict'],
    });
    for (const verdict of VERDICT_CLASSES) this.routes.set({ verdict }, 0);
    this.problems = registry.gauge({
      name: 'gatehouse_controller_problems',
      help: 'Problems with the newest generations of resources, by kind (`Route` or `GatewaySettings`) and reason.',
      labels: ['kind', 'reason'],
    });
    this.#heldBack = registry.gauge({
      name: 'gatehouse_controller_publication_held_back',
      help: '1 while changes are compiled and not published; the status of the settings says why.',
    });
  }

  compiled(outcome: CompileOutcome, seconds: number): void {
    this.#durations.observe({ outcome }, seconds);
  }

  /** Records whether changes are compiled and not published. */
  setHeldBack(isHeldBack: boolean): void {
    this.#heldBack.set({}, isHeldBack ? 1 : 0);
  }
}
