import type { CompiledCertificate } from '../../../shared/snapshot/snapshot.ts';
import type { Counter } from '../../../shared/telemetry/metrics/counter.ts';
import type { Gauge } from '../../../shared/telemetry/metrics/gauge.ts';
import type { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import { HANDSHAKE_OUTCOMES, type HandshakeOutcome } from '../../http/handshake-outcome.ts';

/** The metrics of TLS with clients. */
export class TlsMetrics {
  readonly #handshakes: Counter<'outcome'>;
  readonly #expiry: Gauge<'certificate'>;

  constructor(registry: MetricsRegistry) {
    this.#handshakes = registry.counter({
      name: 'gatehouse_tls_handshakes_total',
      help: 'TLS handshakes with clients. `outcome` is `completed`, or why there is no connection.',
      labels: ['outcome'],
    });
    for (const outcome of HANDSHAKE_OUTCOMES) this.#handshakes.cell({ outcome });
    this.#expiry = registry.gauge({
      name: 'gatehouse_certificate_expiry_timestamp_seconds',
      help: 'When a certificate expires that clients get, in seconds since the epoch. `certificate` is the `namespace/name` of its Secret.',
      labels: ['certificate'],
    });
  }

  countHandshake(outcome: HandshakeOutcome): void {
    this.#handshakes.add({ outcome });
  }

  /** From now on, shows when these certificates expire. */
  show(certificates: () => Iterable<Pick<CompiledCertificate, 'name' | 'notAfter'>>): void {
    this.#expiry.readFrom(() =>
      Array.from(certificates(), ({ name, notAfter }) => ({
        labels: { certificate: name },
        value: notAfter,
      })),
    );
  }
}
