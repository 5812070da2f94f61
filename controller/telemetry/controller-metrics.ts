import type { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';
import { ApiMetrics } from './api-metrics.ts';
import { CompileMetrics } from './compile-metrics.ts';
import { LeaderMetrics } from './leader-metrics.ts';
import { PublicationMetrics } from './publication-metrics.ts';
import { PushMetrics } from './push-metrics.ts';
import { StatusMetrics } from './status-metrics.ts';
import { WatchMetrics } from './watch-metrics.ts';

/** The metrics of a controller. */
export class ControllerMetrics {
  readonly compile: CompileMetrics;
  readonly publication: PublicationMetrics;
  readonly push: PushMetrics;
  readonly status: StatusMetrics;
  readonly leader: LeaderMetrics;
  readonly watches: WatchMetrics;
  readonly api: ApiMetrics;

  constructor(registry: MetricsRegistry) {
    this.compile = new CompileMetrics(registry);
    this.publication = new PublicationMetrics(registry);
    this.push = new PushMetrics(registry);
    this.status = new StatusMetrics(registry);
    this.leader = new LeaderMetrics(registry);
    this.watches = new WatchMetrics(registry);
    this.api = new ApiMetrics(registry);
  }
}
