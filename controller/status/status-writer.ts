import { inTime, pause, type Clock } from '../../shared/runtime/clock.ts';
import { TokenBucket, type Rate } from '../../shared/runtime/token-bucket.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Span } from '../../shared/telemetry/tracing/trace.ts';
import type { KubernetesApi, ResourceType } from '../kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../kubernetes/objects.ts';
import type { Leadership } from '../leader/leadership.ts';
import type { StatusMetrics, StatusWriteOutcome } from '../telemetry/status-metrics.ts';
import type { StatusTraces } from '../telemetry/status-traces.ts';
import { WriteDelays } from './write-delays.ts';
import { WriteFailureLog } from './write-failure-log.ts';
import { classifyWriteError, type WriteFailure } from './write-failure.ts';

/** A status to be written. */
export interface StatusWrite {
  readonly type: ResourceType;
  /** With a `uid` the write applies only to that resource, not to a different one of that name. */
  readonly place: { readonly namespace: string; readonly name: string; readonly uid?: string };
  readonly status: object;
}

/** Provides the statuses to be written. */
export interface StatusSource<W extends StatusWrite> {
  /** Returns the write for a resource when it is due; undefined if none is needed. */
  write(key: string): W | undefined;
  /** Receives the object that the API server returned for a write. */
  written(key: string, write: W, object: KubernetesObject): void;
  /** Receives a write that the API server refused. */
  refused(key: string, write: W): void;
}

/** Limits of a StatusWriter. */
export interface StatusWriterLimits {
  readonly rate: Rate;
  /** The most writes in progress at a time. */
  readonly concurrency: number;
  /** How long a new leader writes nothing. */
  readonly settlingMs: number;
}

/**
 * The limits in production.
 *
 * The concurrency protects a slow API server: it receives no more writes than it responds to. The rate
 * limits lasting causes, such as a Route that changes all the time or a bug. The burst lets the statuses of
 * a thousand new Routes, each written once or twice, appear within seconds. The settling time is as
 * long as proxies take to find a new leader.
 */
export const DEFAULT_LIMITS: StatusWriterLimits = {
  rate: { perSecond: 50, burst: 2000 },
  concurrency: 8,
  settlingMs: 5000,
};

/** Options of a StatusWriter. */
export interface StatusWriterOptions<W extends StatusWrite> {
  readonly api: Pick<KubernetesApi, 'applyStatus'>;
  readonly leadership: Pick<Leadership, 'isCurrent' | 'signal'>;
  readonly source: StatusSource<W>;
  readonly logger: Logger;
  readonly metrics: Pick<StatusMetrics, 'written'>;
  readonly traces: Pick<StatusTraces, 'begin'>;
  readonly clock: Clock;
  readonly limits: StatusWriterLimits;
}

/** A write that waits for its response. */
interface BegunWrite {
  /** By the clock. */
  readonly startedAt: number;
  /** Undefined: it is not traced. */
  readonly span: Span | undefined;
}

const SECOND = 1000;
const RESPONSE_TIMEOUT_MS = 30 * SECOND;

/**
 * Writes statuses while this controller leads, one at a time for each resource.
 *
 * It gets a status from its source at the last moment, so that many changes cause one write.
 */
export class StatusWriter<W extends StatusWrite> {
  readonly #options: StatusWriterOptions<W>;
  readonly #bucket: TokenBucket;
  readonly #delays: WriteDelays;
  readonly #failures: WriteFailureLog;
  /** Keys of due writes, in the order in which they are written. */
  readonly #due = new Set<string>();
  readonly #inProgress = new Set<string>();
  #refill: Disposable | undefined;
  #isSettled = false;

  constructor(options: StatusWriterOptions<W>) {
    const { clock, limits, leadership, logger } = options;
    this.#options = options;
    this.#bucket = new TokenBucket(limits.rate);
    this.#delays = new WriteDelays(clock, (key) => this.#makeDue(key));
    this.#failures = new WriteFailureLog(logger, clock);
    leadership.signal.addEventListener('abort', () => this.#stop(), { once: true });
    void pause(clock, limits.settlingMs, leadership.signal).then(() => {
      this.#isSettled = true;
      this.#pump();
    });
  }

  /** The number of statuses that wait to be written, or are being written. */
  get pending(): number {
    return this.#delays.size + this.#due.size + this.#inProgress.size;
  }

  /** Writes the status of a resource within this time, if it needs one then. */
  request(key: string, withinMs: number): void {
    if (!this.#options.leadership.isCurrent || this.#due.has(key)) return;
    this.#delays.request(key, withinMs);
  }

  #makeDue(key: string): void {
    this.#due.add(key);
    this.#pump();
  }

  /** Starts every due write that the limits allow. */
  #pump(): void {
    if (!this.#isSettled) return;
    for (const key of this.#due) {
      if (!this.#options.leadership.isCurrent) return;
      if (this.#inProgress.size >= this.#options.limits.concurrency) return;
      if (this.#inProgress.has(key)) continue;
      if (this.#bucket.waitMs(this.#options.clock.now()) > 0) {
        this.#awaitToken();
        return;
      }
      this.#due.delete(key);
      void this.#write(key);
    }
  }

  #awaitToken(): void {
    const { clock } = this.#options;
    this.#refill ??= clock.after(this.#bucket.waitMs(clock.now()), () => {
      this.#refill = undefined;
      this.#pump();
    });
  }

  /** Never rejects. */
  async #write(key: string): Promise<void> {
    const { source } = this.#options;
    const write = source.write(key);
    if (write === undefined) return;
    this.#bucket.take(this.#options.clock.now());
    this.#inProgress.add(key);
    const begun = { startedAt: this.#options.clock.now(), span: this.#options.traces.begin(key) };
    try {
      const object = await this.#apply(write);
      this.#record(write, 'ok', begun);
      this.#delays.resetBackoff(key);
      this.#failures.succeeded();
      source.written(key, write, object);
    } catch (error) {
      const failure = classifyWriteError(error);
      begun.span?.recordError(error);
      this.#record(write, failure.kind, begun);
      this.#handleFailure(key, write, { error, failure });
    } finally {
      this.#inProgress.delete(key);
      this.#pump();
    }
  }

  #apply({ type, place, status }: W): Promise<KubernetesObject> {
    const { api, clock } = this.#options;
    return inTime(clock, RESPONSE_TIMEOUT_MS, api.applyStatus(type, place, status));
  }

  #record({ type }: W, outcome: StatusWriteOutcome, { startedAt, span }: BegunWrite): void {
    const { metrics, clock } = this.#options;
    span?.end();
    metrics.written(type.kind, outcome, (clock.now() - startedAt) / SECOND);
  }

  #handleFailure(
    key: string,
    write: W,
    { error, failure }: { readonly error: unknown; readonly failure: WriteFailure },
  ): void {
    switch (failure.kind) {
      case 'gone':
        this.#delays.resetBackoff(key);
        return;
      case 'refused':
        this.#failures.refused(fieldsOf(write), error);
        this.#options.source.refused(key, write);
        return;
      case 'forbidden':
        this.#failures.forbidden(fieldsOf(write), error);
        this.#due.delete(key);
        if (this.#options.leadership.isCurrent) this.#delays.retryLate(key);
        return;
      case 'retry':
        this.#failures.retried(fieldsOf(write), error);
        this.#due.delete(key);
        if (this.#options.leadership.isCurrent) this.#delays.retry(key, failure.retryAfterMs);
    }
  }

  #stop(): void {
    this.#delays[Symbol.dispose]();
    this.#due.clear();
    this.#refill?.[Symbol.dispose]();
  }
}

function fieldsOf({ type, place }: StatusWrite): Readonly<Record<string, string>> {
  return { kind: type.kind, resource: `${place.namespace}/${place.name}` };
}
