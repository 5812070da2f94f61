import type { Span, Trace } from '../../shared/telemetry/tracing/trace.ts';

/** The most statuses of one change whose writes have spans. */
const MAX_OF_CHANGE = 10;

/** The most statuses whose writes have spans. */
const MAX_STATUSES = 256;

/** A later write is about something else. */
const TRACED_MS = 30_000;

interface TracedStatus {
  readonly span: Span;
  readonly until: number;
}

/** Knows which change the write of a status belongs to. Of a large change, some writes have spans. */
export class StatusTraces {
  /** Oldest first. */
  readonly #statuses = new Map<string, TracedStatus>();
  readonly #now: () => number;

  /** `now` returns monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records that a change led to new verdicts on these resources, by their keys in the snapshot. */
  changed(keys: Iterable<string>, trace: Trace | undefined): void {
    const span = trace?.span;
    const until = this.#now() + TRACED_MS;
    let count = 0;
    for (const key of keys) {
      this.#statuses.delete(key);
      count += 1;
      if (span !== undefined && count <= MAX_OF_CHANGE) this.#statuses.set(key, { span, until });
    }
    for (const oldest of this.#statuses.keys()) {
      if (this.#statuses.size <= MAX_STATUSES) return;
      this.#statuses.delete(oldest);
    }
  }

  /** Begins the span of a write; undefined if it belongs to no change that is traced. */
  begin(key: string): Span | undefined {
    const traced = this.#statuses.get(key);
    if (traced === undefined) return undefined;
    if (traced.until >= this.#now()) {
      return traced.span.child('status write', 'client', { 'gatehouse.resource.key': key });
    }
    this.#statuses.delete(key);
    return undefined;
  }
}
