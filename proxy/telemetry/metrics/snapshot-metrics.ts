import type { Gauge } from '../../../shared/telemetry/metrics/gauge.ts';
import type { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import type { SnapshotPosition } from '../../../shared/snapshot/snapshot-position.ts';

const MS_PER_SECOND = 1_000;

/** The snapshot that serves, as far as a gateway knows it. */
export interface ShownSnapshot {
  /** Undefined before the first. */
  version(): string | undefined;
  /** Milliseconds since the epoch. */
  appliedAt(): number | undefined;
  /** Number of routes. */
  routes(): number;
}

/** What a proxy in a cluster knows besides. */
export interface ControllerState {
  position(): SnapshotPosition | undefined;
  isConnected(): boolean;
}

/** The metrics of the snapshot that serves, and of the connection that brings the next one. */
export class SnapshotMetrics {
  readonly #info: Gauge<'version'>;
  readonly #applied: Gauge;
  readonly #routes: Gauge;
  readonly #epoch: Gauge;
  readonly #sequence: Gauge;
  readonly #isConnected: Gauge;

  constructor(registry: MetricsRegistry) {
    this.#info = registry.gauge({
      name: 'gatehouse_snapshot_info',
      help: 'Always 1. `version` is that of the snapshot that serves; there is none before the first.',
      labels: ['version'],
    });
    this.#applied = registry.gauge({
      name: 'gatehouse_snapshot_applied_timestamp_seconds',
      help: 'When the snapshot that serves was applied, in seconds since the epoch. Its age is `time()` minus this.',
    });
    this.#routes = registry.gauge({
      name: 'gatehouse_routes',
      help: 'Routes that are served.',
    });
    this.#epoch = registry.gauge({
      name: 'gatehouse_snapshot_epoch',
      help: 'Epoch of the snapshot that serves; in a cluster only.',
    });
    this.#sequence = registry.gauge({
      name: 'gatehouse_snapshot_sequence',
      help: 'Sequence of the snapshot that serves; in a cluster only.',
    });
    this.#isConnected = registry.gauge({
      name: 'gatehouse_controller_connected',
      help: '1 while the proxy is connected to the leading controller, else 0; in a cluster only.',
    });
    this.#epoch.readFrom(() => undefined);
    this.#sequence.readFrom(() => undefined);
    this.#isConnected.readFrom(() => undefined);
  }

  /** From now on, shows the snapshot of a gateway. */
  show(served: ShownSnapshot): void {
    this.#info.readFrom(() => {
      const version = served.version();
      return version === undefined ? undefined : [{ labels: { version }, value: 1 }];
    });
    this.#applied.readFrom(() => {
      const appliedAt = served.appliedAt();
      return appliedAt === undefined ? undefined : appliedAt / MS_PER_SECOND;
    });
    this.#routes.readFrom(() => served.routes());
  }

  /** From now on, shows where the snapshot stands in a cluster, and whether the next one could come. */
  showController(state: ControllerState): void {
    this.#epoch.readFrom(() => state.position()?.epoch);
    this.#sequence.readFrom(() => state.position()?.sequence);
    this.#isConnected.readFrom(() => (state.isConnected() ? 1 : 0));
  }
}
