import { inTime, pause, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { KubernetesApi, ResourceType } from '../kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../kubernetes/objects.ts';
import type { Leadership } from '../leader/leadership.ts';
import { TokenBucket, type Rate } from '../../shared/runtime/token-bucket.ts';
import { judgeFailure } from './write-failure.ts';

/** A status to be written. */
export interface StatusWrite {
  readonly type: ResourceType;
  /** With a `uid`, it is about that object alone, and not about another one of the name. */
  readonly place: { readonly namespace: string; readonly name: string; readonly uid?: string };
  readonly status: object;
}

/** Who knows what to write. */
export interface StatusSource<W extends StatusWrite> {
  /** What to write about an object, asked for when its turn has come; undefined: nothing. */
  write(key: string): W | undefined;
  /** `object` is what the API server made of it. */
  written(key: string, write: W, object: KubernetesObject): void;
  /** The API server does not take it. */
  refused(key: string, write: W): void;
}

export interface StatusWriterLimits {
  readonly rate: Rate;
  /** Writes under way at a time. */
  readonly concurrency: number;
  /** How long nothing is written after the beginning. */
  readonly settlingMs: number;
}

/**
 * What protects an API server that is slow is the concurrency: it gets no more than it answers. The
 * rate bounds what goes on for long, a Route that changes all the time or a problem of ours; the burst
 * lets a thousand new Routes, each written once or twice, be told of within seconds.
 *
 * A new leader is silent for as long as proxies take to find it.
 */
export const DEFAULT_LIMITS: StatusWriterLimits = {
  rate: { perSecond: 50, burst: 2000 },
  concurrency: 8,
  settlingMs: 5000,
};

export interface StatusWriterOptions<W extends StatusWrite> {
  readonly api: Pick<KubernetesApi, 'applyStatus'>;
  readonly leadership: Pick<Leadership, 'isCurrent' | 'signal'>;
  readonly source: StatusSource<W>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly limits: StatusWriterLimits;
}

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
const ANSWER_MS = 30_000;
const LOG_MS = 30_000;

/**
 * Writes statuses while this controller leads: for each object the newest, one at a time.
 *
 * What is to be written is asked for at the last moment, so that any number of changes is one write.
 */
export class StatusWriter<W extends StatusWrite> {
  readonly #options: StatusWriterOptions<W>;
  readonly #bucket: TokenBucket;
  /** Waiting for their time. */
  readonly #waiting = new Map<string, { readonly at: number; readonly timer: Disposable }>();
  /** In the order in which they are written. */
  readonly #due = new Set<string>();
  readonly #underWay = new Set<string>();
  readonly #backoffs = new Map<string, { readonly until: number; readonly ms: number }>();
  #refill: Disposable | undefined;
  #isSettled = false;
  #loggedAt: number | undefined;
  #isForbidden = false;

  constructor(options: StatusWriterOptions<W>) {
    const { clock, limits, leadership } = options;
    this.#options = options;
    this.#bucket = new TokenBucket(limits.rate);
    leadership.signal.addEventListener('abort', () => this.#stop(), { once: true });
    void pause(clock, limits.settlingMs, leadership.signal).then(() => {
      this.#isSettled = true;
      this.#pump();
    });
  }

  /** Writes about an object within that time, unless there is nothing to write then. */
  request(key: string, withinMs: number): void {
    const { clock, leadership } = this.#options;
    if (!leadership.isCurrent || this.#due.has(key)) return;
    const at = Math.max(clock.now() + withinMs, this.#backoffs.get(key)?.until ?? 0);
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined && waiting.at <= at) return;
    waiting?.timer[Symbol.dispose]();
    this.#waiting.delete(key);
    if (at <= clock.now()) this.#makeDue(key);
    else this.#wait(key, at);
  }

  #wait(key: string, at: number): void {
    const { clock } = this.#options;
    const timer = clock.after(at - clock.now(), () => {
      this.#waiting.delete(key);
      this.#makeDue(key);
    });
    this.#waiting.set(key, { at, timer });
  }

  #makeDue(key: string): void {
    this.#due.add(key);
    this.#pump();
  }

  #pump(): void {
    if (!this.#isSettled) return;
    for (const key of this.#due) {
      if (!this.#options.leadership.isCurrent) return;
      if (this.#underWay.size >= this.#options.limits.concurrency) return;
      if (this.#underWay.has(key)) continue;
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
    this.#underWay.add(key);
    try {
      const object = await this.#apply(write);
      this.#backoffs.delete(key);
      this.#isForbidden = false;
      source.written(key, write, object);
    } catch (error) {
      this.#failed(key, write, error);
    } finally {
      this.#underWay.delete(key);
      this.#pump();
    }
  }

  #apply({ type, place, status }: W): Promise<KubernetesObject> {
    const { api, clock } = this.#options;
    return inTime(clock, ANSWER_MS, api.applyStatus(type, place, status));
  }

  #failed(key: string, write: W, error: unknown): void {
    const failure = judgeFailure(error);
    switch (failure.kind) {
      case 'gone':
        this.#backoffs.delete(key);
        return;
      case 'invalid':
        this.#options.logger.error('status refused', placeOf(write), error);
        this.#options.source.refused(key, write);
        return;
      case 'forbidden':
        if (!this.#isForbidden) {
          this.#options.logger.error('status must not be written', placeOf(write), error);
        }
        this.#isForbidden = true;
        this.#retry(key, MAX_BACKOFF_MS);
        return;
      case 'again':
        this.#log(write, error);
        this.#retry(key, failure.retryAfterMs);
    }
  }

  #retry(key: string, afterMs: number | undefined): void {
    const before = this.#backoffs.get(key);
    const ms = before === undefined ? FIRST_BACKOFF_MS : Math.min(before.ms * 2, MAX_BACKOFF_MS);
    const waitMs = afterMs ?? ms;
    this.#backoffs.set(key, { until: this.#options.clock.now() + waitMs, ms });
    this.#due.delete(key);
    this.request(key, waitMs);
  }

  /** An API server that is away fails every write: one line tells of it. */
  #log(write: W, error: unknown): void {
    const { clock, logger } = this.#options;
    if (this.#loggedAt !== undefined && clock.now() < this.#loggedAt + LOG_MS) return;
    this.#loggedAt = clock.now();
    logger.warn('status could not be written, trying again', placeOf(write), error);
  }

  #stop(): void {
    for (const { timer } of this.#waiting.values()) timer[Symbol.dispose]();
    this.#waiting.clear();
    this.#due.clear();
    this.#refill?.[Symbol.dispose]();
  }
}

function placeOf({ type, place }: StatusWrite): Readonly<Record<string, string>> {
  return { kind: type.kind, resource: `${place.namespace}/${place.name}` };
}
