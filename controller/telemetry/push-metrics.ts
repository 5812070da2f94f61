import type { Counter } from '../../shared/telemetry/metrics/counter.ts';
import type { Gauge } from '../../shared/telemetry/metrics/gauge.ts';
import type { Histogram } from '../../shared/telemetry/metrics/histogram.ts';
import type { MetricsRegistry } from '../../shared/telemetry/metrics/metrics-registry.ts';

const MS_PER_SECOND = 1000;

/** Seconds: a proxy that waits for nothing acknowledges a change in some ten milliseconds. */
const ACKNOWLEDGEMENT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of what goes to proxies, and of what they answer. */
export class PushMetrics {
  readonly #bytes: Counter;
  readonly #frames: Counter;
  readonly #snapshots: Counter<'kind'>;
  readonly #acknowledgements: Histogram;
  readonly #rejections: Counter<'reason'>;
  readonly #refusals: Counter<'reason'>;
  readonly #upstreamAuthReports: Counter<'outcome'>;
  readonly #certificateExpiry: Gauge;

  constructor(registry: MetricsRegistry) {
    this.#bytes = registry.counter({
      name: 'gatehouse_controller_pushed_bytes_total',
      help: 'Bytes of snapshots that were pushed to proxies, before TLS.',
    });
    this.#frames = registry.counter({
      name: 'gatehouse_controller_pushed_frames_total',
      help: 'Frames of snapshots that were pushed to proxies.',
    });
    this.#snapshots = registry.counter({
      name: 'gatehouse_controller_pushed_snapshots_total',
      help: 'Snapshots that were pushed to proxies, by kind: `whole`, or `changes` to what the proxy served.',
      labels: ['kind'],
    });
    this.#acknowledgements = registry.histogram({
      name: 'gatehouse_controller_acknowledgement_duration_seconds',
      help: 'Time from the publication of a snapshot, or from when the proxy connected if that was later, until the proxy acknowledged it. All proxies together.',
      buckets: ACKNOWLEDGEMENT_BUCKETS,
    });
    this.#rejections = registry.counter({
      name: 'gatehouse_controller_rejections_total',
      help: 'Snapshots that a proxy rejected, by the reason of the first resource: `InvalidResource`, `StalePosition`, `UnknownBase` or `BrokenSnapshot`.',
      labels: ['reason'],
    });
    this.#refusals = registry.counter({
      name: 'gatehouse_controller_push_refusals_total',
      help: 'Push streams that were refused, by reason. A controller that does not lead refuses with `not-leading`.',
      labels: ['reason'],
    });
    this.#upstreamAuthReports = registry.counter({
      name: 'gatehouse_controller_upstream_auth_reports_total',
      help: 'Reports of proxies whether users can connect to an upstream, by outcome: `ready` or `failed`.',
      labels: ['outcome'],
    });
    this.#certificateExpiry = registry.gauge({
      name: 'gatehouse_controller_push_certificate_expiry_timestamp_seconds',
      help: 'When the certificate of the push listener expires.',
    });
  }

  /** Counts bytes that were handed to a stream. */
  sent(bytes: number): void {
    this.#bytes.add({}, bytes);
  }

  /** Counts a snapshot that was sent completely. */
  delivered(kind: 'whole' | 'changes', frames: number): void {
    this.#frames.add({}, frames);
    this.#snapshots.add({ kind });
  }

  /** Counts an acknowledgement, and how long the snapshot waited for it. */
  acknowledged(seconds: number): void {
    this.#acknowledgements.observe({}, seconds);
  }

  /** `reason` is a `RejectionReason`. */
  rejected(reason: string): void {
    this.#rejections.add({ reason });
  }

  /** `reason` is one of this process, never words of the proxy. */
  refused(reason: string): void {
    this.#refusals.add({ reason });
  }

  upstreamAuthReported(outcome: 'ready' | 'failed'): void {
    this.#upstreamAuthReports.add({ outcome });
  }

  /** Records when the certificate in use expires, in milliseconds since 1970. */
  certificateExpires(at: number): void {
    this.#certificateExpiry.set({}, at / MS_PER_SECOND);
  }
}
