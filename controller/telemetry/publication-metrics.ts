import type { SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';
import type { MetricReading } from '../../shared/telemetry/metrics/value-metric.ts';
import { lagReadings, type LaggingProxy } from './lag-readings.ts';

const MS_PER_SECOND = 1000;

/** A proxy as metrics read it. */
export interface ProxyReading extends LaggingProxy {
  readonly isConnected: boolean;
  readonly isReady: boolean;
  readonly isDraining: boolean;
  readonly isSynced: boolean;
  readonly rejected: readonly unknown[];
}

/** What a leader publishes, as metrics read it. */
export interface PublicationReading {
  readonly position: SnapshotPosition;
  readonly version: string;
  /** In milliseconds since 1970; undefined: nothing is published yet. */
  readonly publishedAt: number | undefined;
  readonly proxies: readonly ProxyReading[];
}

/** States of connected proxies, and which proxies are in them. */
const PROXY_STATES: Readonly<Record<string, (proxy: ProxyReading) => boolean>> = {
  connected: () => true,
  ready: ({ isReady, isDraining }) => isReady && !isDraining,
  synced: ({ isSynced }) => isSynced,
  rejecting: ({ rejected }) => rejected.length > 0,
};

/** The metrics of what the leader publishes. In a controller that does not lead they are 0 or absent. */
export class PublicationMetrics {
  #read: () => PublicationReading | undefined = () => undefined;

  constructor(registry: MetricsRegistry) {
    this.#defineSnapshot(registry);
    registry
      .gauge({
        name: 'gatehouse_controller_proxies',
        help: 'Proxies by state: `connected`, `ready` (and not draining), `synced` (serves the newest snapshot) or `rejecting` (a part of it).',
        labels: ['state'],
      })
      .readFrom(() => proxyReadings(this.#read()?.proxies));
    registry
      .gauge({
        name: 'gatehouse_controller_acknowledgement_lag_seconds',
        help: 'How long the oldest snapshot that a proxy has not acknowledged has been waiting for it, or the time since the proxy connected if that was later; 0 if it serves the newest. It ends 15 s after the proxy disconnected. Beyond 100 proxies, `_other` is the longest lag of the rest.',
        labels: ['proxy'],
      })
      .readFrom(() => lagReadings(this.#read()?.proxies ?? []));
  }

  /** From now on, what is published is read from there; undefined: this controller does not lead. */
  readFrom(read: () => PublicationReading | undefined): void {
    this.#read = read;
  }

  #defineSnapshot(registry: MetricsRegistry): void {
    registry
      .gauge({
        name: 'gatehouse_controller_snapshot_info',
        help: 'Always 1. Its label is the version of the newest snapshot.',
        labels: ['version'],
      })
      .readFrom(() => {
        const published = this.#published;
        return published ? [{ labels: { version: published.version }, value: 1 }] : [];
      });
    registry
      .gauge({
        name: 'gatehouse_controller_snapshot_epoch',
        help: 'Epoch of the newest snapshot. Each leader has a higher one.',
      })
      .readFrom(() => this.#published?.position.epoch);
    registry
      .gauge({
        name: 'gatehouse_controller_snapshot_sequence',
        help: 'Sequence of the newest snapshot, which counts the snapshots of this leader.',
      })
      .readFrom(() => this.#published?.position.sequence);
    registry
      .gauge({
        name: 'gatehouse_controller_snapshot_published_timestamp_seconds',
        help: 'When the newest snapshot was published. Its age is the present time less this.',
      })
      .readFrom(() => this.#published && (this.#published.publishedAt ?? 0) / MS_PER_SECOND);
  }

  /** Undefined before the first snapshot. */
  get #published(): PublicationReading | undefined {
    const reading = this.#read();
    return reading?.publishedAt === undefined ? undefined : reading;
  }
}

function proxyReadings(proxies: readonly ProxyReading[] = []): Iterable<MetricReading<'state'>> {
  const connected = proxies.filter(({ isConnected }) => isConnected);
  return Object.entries(PROXY_STATES).map(([state, holds]) => ({
    labels: { state },
    value: connected.filter(holds).length,
  }));
}
