import { formatPosition, type SnapshotPosition } from '../../shared/snapshot/snapshot-position.ts';
import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { Tracer } from '../../shared/telemetry/tracing/tracer.ts';

/** The most publications that are remembered: a proxy that is further behind gets a trace of its own. */
const MAX_PUBLICATIONS = 32;

/** The most deliveries of one publication that have spans. */
const MAX_SPANS = 100;

/** A delivery to a proxy. */
export interface TracedDelivery {
  readonly proxyId: string;
  /** Position of the delivered snapshot. */
  readonly position: SnapshotPosition;
  /** Sequence that the proxy serves, or that was the newest when it connected if that was later. */
  readonly after: number;
}

/** The trace of a delivery. Without a span, it is not sampled, or one of too many. */
export type DeliveryTrace = Pick<Trace, 'context' | 'span'>;

interface TracedPublication {
  readonly sequence: number;
  readonly trace: Trace;
  spansLeft: number;
}

/**
 * Knows which change a delivery belongs to: the newest that is new to the proxy. Earlier ones that reach it with the
 * same delivery are linked. Without any, such as for a proxy that connects, a delivery is a trace of its own.
 */
export class DeliveryTraces {
  readonly #tracer: Tracer | undefined;
  #publications: readonly TracedPublication[] = [];

  constructor(tracer: Tracer | undefined) {
    this.#tracer = tracer;
  }

  /** Records the trace of the change that was published with a sequence. */
  published(sequence: number, trace: Trace | undefined): void {
    if (trace === undefined) return;
    const publication = { sequence, trace, spansLeft: MAX_SPANS };
    this.#publications = [...this.#publications.slice(1 - MAX_PUBLICATIONS), publication];
  }

  /** Returns the trace of a delivery that begins now; undefined while tracing is off. */
  begin({ proxyId, position, after }: TracedDelivery): DeliveryTrace | undefined {
    const attributes = {
      'gatehouse.proxy.id': proxyId,
      'gatehouse.snapshot.position': formatPosition(position),
    };
    const fresh = this.#publications.filter(({ sequence }) => sequence > after);
    const newest = fresh.at(-1);
    if (newest === undefined)
      return this.#tracer?.start('snapshot delivery', 'client', { attributes });
    const { trace } = newest;
    newest.spansLeft -= 1;
    if (trace.span === undefined || newest.spansLeft < 0) return { context: trace.context };
    const span = trace.span.child('snapshot delivery', 'client', attributes);
    for (const earlier of fresh.slice(0, -1)) span.link(earlier.trace.context);
    return span;
  }
}
