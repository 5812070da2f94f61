import { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import { AccessMetrics } from './access-metrics.ts';
import { ConnectionMetrics } from './connection-metrics.ts';
import { OutboundMetrics } from './outbound-metrics.ts';
import { RedisMetrics } from './redis-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';
import { SnapshotMetrics } from './snapshot-metrics.ts';
import { TlsMetrics } from './tls-metrics.ts';

/** The metrics of a proxy, and of `gatehouse run`. Made once for a process. */
export class ProxyMetrics {
  readonly requests: RequestMetrics;
  readonly access: AccessMetrics;
  readonly connections: ConnectionMetrics;
  readonly tls: TlsMetrics;
  readonly snapshot: SnapshotMetrics;
  readonly outbound: OutboundMetrics;
  readonly redis: RedisMetrics;

  /** Without the registry of a process, nobody reads them. */
  constructor(registry = new MetricsRegistry()) {
    this.requests = new RequestMetrics(registry);
    this.access = new AccessMetrics(registry);
    this.connections = new ConnectionMetrics(registry);
    this.tls = new TlsMetrics(registry);
    this.snapshot = new SnapshotMetrics(registry);
    this.outbound = new OutboundMetrics(registry);
    this.redis = new RedisMetrics(registry);
  }
}
