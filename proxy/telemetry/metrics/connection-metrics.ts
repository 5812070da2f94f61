import type { MetricsRegistry } from '../../../shared/telemetry/metrics/metrics-registry.ts';
import type { Gauge } from '../../../shared/telemetry/metrics/gauge.ts';
import type { Counter } from '../../../shared/telemetry/metrics/counter.ts';
import type { StreamKind } from '../../forwarding/response/open-streams.ts';
import type { ConnectionRefusal } from '../../server/connection-counter.ts';

/** What a gateway holds open at the moment. */
export interface OpenThings {
  /** Connections of clients. */
  connections(): number;
  /** Event streams and WebSockets. */
  streams(): Readonly<Record<StreamKind, number>>;
}

const REFUSALS: readonly ConnectionRefusal['reason'][] = [
  'too-many-connections',
  'too-many-connections-of-client',
  'malformed-proxy-header',
];

/** The metrics of what clients hold open. */
export class ConnectionMetrics {
  readonly #connections: Gauge;
  readonly #streams: Gauge<'kind'>;
  readonly #refused: Counter<'reason'>;
  readonly #unreadable: Counter<'status'>;

  constructor(registry: MetricsRegistry) {
    this.#connections = registry.gauge({
      name: 'gatehouse_connections',
      help: 'Connections of clients.',
    });
    this.#streams = registry.gauge({
      name: 'gatehouse_streams',
      help: 'Open streams to clients. `kind` is `events` or `websocket`.',
      labels: ['kind'],
    });
    this.#refused = registry.counter({
      name: 'gatehouse_connections_refused_total',
      help: 'Connections that were reset because of a limit or a bad PROXY header, by the reason that the log names.',
      labels: ['reason'],
    });
    for (const reason of REFUSALS) this.#refused.cell({ reason });
    this.#unreadable = registry.counter({
      name: 'gatehouse_unreadable_requests_total',
      help: 'Answers to what could not be read as a request, or was not received in time, by their status. They are not among the requests.',
      labels: ['status'],
    });
  }

  countRefusal({ reason }: Pick<ConnectionRefusal, 'reason'>): void {
    this.#refused.add({ reason });
  }

  /** `status` is one of a few. */
  countUnreadable(status: number): void {
    this.#unreadable.add({ status: String(status) });
  }

  /** From now on, shows what a gateway holds open. */
  show(open: OpenThings): void {
    this.#connections.readFrom(() => open.connections());
    this.#streams.readFrom(() => {
      const { events, websocket } = open.streams();
      return [
        { labels: { kind: 'events' }, value: events },
        { labels: { kind: 'websocket' }, value: websocket },
      ];
    });
  }
}
