import { pause, type Clock } from '../../shared/runtime/clock.ts';
import { TokenBucket } from '../../shared/runtime/token-bucket.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { FORBIDDEN } from '../kubernetes/error-codes.ts';
import { KubernetesApiError, type KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import { EVENTS } from '../kubernetes/resource-types.ts';
import { eventObject, type InvolvedObject } from './event-object.ts';
import type { StatusEvent } from './events-of-change.ts';

/** Options of an EventRecorder. */
export interface EventRecorderOptions {
  readonly api: Pick<KubernetesApi, 'create'>;
  /** The name of this process, as in the Lease. */
  readonly identity: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly wallTime: () => Date;
}

const MINUTE = 60_000;
/** How long the last Event about an object is not repeated. */
const QUIET_MS = 10 * MINUTE;
/** More than one gateway needs, but no storm that displaces the Events of other controllers. */
const RATE = { perSecond: 1, burst: 100 };
/** The rate of one object, so that a flapping object leaves most of the total to others. */
const RATE_OF_OBJECT = { perSecond: 1 / 60, burst: 6 };

/**
 * Writes Events about objects. The last Event about an object is not repeated for ten minutes, and the
 * number of Events is limited, per object and in total. An Event that cannot be written is dropped,
 * because the conditions have the same content.
 *
 * Above the limit, the newest Event about an object that has one already is written later. Otherwise the
 * last Event about a Route that is rejected, accepted and rejected again could report that it is
 * accepted.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #bucket: TokenBucket;
  /** The last Event about each object, in the order of the time until which it is not repeated. */
  readonly #last = new Map<string, LastEvent>();
  /** The newest Event about each object that is above the limit. */
  readonly #delayed = new Map<string, StatusEvent>();
  #isForbidden = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket(RATE);
  }

  /** Never rejects. An Event above the limit is written later, unless `signal` aborts before. */
  async record(object: InvolvedObject, event: StatusEvent, signal: AbortSignal): Promise<void> {
    const key = keyOf(object);
    if (this.#delayed.has(key)) {
      this.#delayed.set(key, event);
      return;
    }
    const now = this.#options.clock.now();
    this.#forgetUntil(now);
    const last = this.#last.get(key);
    if (last?.event?.reason === event.reason && last.event.message === event.message) return;
    const bucket = last?.bucket ?? new TokenBucket(RATE_OF_OBJECT);
    const waitMs = Math.max(bucket.waitMs(now), this.#bucket.waitMs(now));
    if (waitMs === 0) {
      bucket.take(now);
      this.#bucket.take(now);
      await this.#write(object, event, { event, until: now + QUIET_MS, bucket });
    } else if (last !== undefined) {
      // An object without an Event has no outdated one, and there may be any number of such objects.
      this.#delayed.set(key, event);
      void this.#recordLater(object, waitMs, signal);
    }
  }

  async #write(object: InvolvedObject, event: StatusEvent, last: LastEvent): Promise<void> {
    const key = keyOf(object);
    const { api, identity, wallTime } = this.#options;
    this.#last.delete(key);
    this.#last.set(key, last);
    try {
      const manifest = eventObject(object, event, { identity, now: wallTime() });
      await api.create(EVENTS, object.namespace, manifest);
      this.#isForbidden = false;
    } catch (error) {
      // The Event may be tried again, because it was not written.
      if (this.#last.get(key) === last) this.#last.set(key, { ...last, event: undefined });
      this.#logFailure(error);
    }
  }

  /** Writes the newest Event after a wait, unless it is the same as the last one by then. */
  async #recordLater(object: InvolvedObject, waitMs: number, signal: AbortSignal): Promise<void> {
    // A timer that is early by a fraction of a millisecond would find no token.
    await pause(this.#options.clock, Math.ceil(waitMs), signal);
    const key = keyOf(object);
    const event = this.#delayed.get(key);
    this.#delayed.delete(key);
    if (event === undefined || signal.aborted) return;
    await this.record(object, event, signal);
  }

  #forgetUntil(now: number): void {
    for (const [key, { until }] of this.#last) {
      if (until > now) break;
      this.#last.delete(key);
    }
  }

  #logFailure(error: unknown): void {
    const isForbidden = error instanceof KubernetesApiError && error.code === FORBIDDEN;
    if (isForbidden && this.#isForbidden) return;
    this.#isForbidden = isForbidden;
    this.#options.logger.warn('cannot write an Event', {}, error);
  }
}

/** The last Event about an object. */
interface LastEvent {
  /** Undefined: it could not be written. */
  readonly event: StatusEvent | undefined;
  /** The time until which it is not repeated. */
  readonly until: number;
  /** The rate of the object. The bucket is full again by `until`. */
  readonly bucket: TokenBucket;
}

function keyOf({ type, namespace, name, uid = '' }: InvolvedObject): string {
  return [type.kind, namespace, name, uid].join('/');
}
