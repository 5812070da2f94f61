import { randomBytes } from 'node:crypto';

import { pause, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { KubernetesApi, ResourceType } from '../kubernetes/kubernetes-api.ts';
import { KubernetesApiError } from '../kubernetes/kubernetes-api.ts';
import { EVENTS } from '../kubernetes/resource-types.ts';
import type { StatusEvent } from './events-of-change.ts';
import { wholeSeconds } from './condition.ts';
import { clip } from './describe-problems.ts';
import { TokenBucket } from '../../shared/runtime/token-bucket.ts';

/** The object that an Event is about. */
export interface InvolvedObject {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  /** Without it `kubectl describe` does not find the Event. */
  readonly uid: string | undefined;
}

export interface EventRecorderOptions {
  readonly api: Pick<KubernetesApi, 'create'>;
  /** Of this process, as in the Lease. */
  readonly identity: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly wallTime: () => Date;
}

const MINUTE = 60_000;
/** Time in which what was said of an object last is not said again. */
const QUIET_MS = 10 * MINUTE;
/** Above what one gateway has to say; a storm of Events would push out those of others. */
const RATE = { perSecond: 1, burst: 100 };
/** Of one object, so that one whose verdict flaps leaves most of the rate to the others. */
const RATE_OF_ONE = { perSecond: 1 / 60, burst: 6 };
const COMPONENT = 'gatehouse';
const MAX_MESSAGE = 1024;
const MAX_NAME = 253;
const RANDOM_BYTES = 8;
const FORBIDDEN = 403;

/**
 * Writes Events, beside the objects that they are about: what was said of an object last is not said
 * again for ten minutes, and only so many are written of one object and of all. One that cannot be
 * written is dropped, since conditions say the same.
 *
 * What was said before the last is said again, and what must wait is said later: a Route that is
 * refused, accepted and refused again would otherwise be left with an Event that it is accepted.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #bucket: TokenBucket;
  /** What was said of each object last, in the order of the time until which it is not repeated. */
  readonly #last = new Map<string, LastWord>();
  /** The newest about each object that must wait. */
  readonly #unsaid = new Map<string, StatusEvent>();
  #isForbidden = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket(RATE);
  }

  /**
   * Never rejects. What must wait is said later, unless `signal` is aborted before.
   */
  async record(
    regarding: InvolvedObject,
    announcement: StatusEvent,
    signal: AbortSignal,
  ): Promise<void> {
    const object = keyOf(regarding);
    if (this.#unsaid.has(object)) {
      this.#unsaid.set(object, announcement);
      return;
    }
    const now = this.#options.clock.now();
    this.#forgetUntil(now);
    const last = this.#last.get(object);
    if (last?.reason === announcement.reason) return;
    const bucket = last?.bucket ?? new TokenBucket(RATE_OF_ONE);
    const waitMs = Math.max(bucket.waitMs(now), this.#bucket.waitMs(now));
    if (waitMs === 0) {
      bucket.take(now);
      this.#bucket.take(now);
      const word = { reason: announcement.reason, until: now + QUIET_MS, bucket };
      await this.#say(regarding, announcement, word);
    } else if (last !== undefined) {
      // The others have no Event that is wrong, and would be any number.
      this.#unsaid.set(object, announcement);
      void this.#sayLater(regarding, waitMs, signal);
    }
  }

  async #say(regarding: InvolvedObject, announcement: StatusEvent, word: LastWord): Promise<void> {
    const object = keyOf(regarding);
    this.#last.delete(object);
    this.#last.set(object, word);
    try {
      const event = this.#eventOf(regarding, announcement);
      await this.#options.api.create(EVENTS, regarding.namespace, event);
      this.#isForbidden = false;
    } catch (error) {
      // It was not said.
      if (this.#last.get(object) === word) this.#last.set(object, { ...word, reason: undefined });
      this.#failed(error);
    }
  }

  /** Says what is the newest by then, unless that is what was said last. */
  async #sayLater(regarding: InvolvedObject, waitMs: number, signal: AbortSignal): Promise<void> {
    // A timer that is early by a fraction of a millisecond would find no token.
    await pause(this.#options.clock, Math.ceil(waitMs), signal);
    const object = keyOf(regarding);
    const announcement = this.#unsaid.get(object);
    this.#unsaid.delete(object);
    if (announcement === undefined || signal.aborted) return;
    await this.record(regarding, announcement, signal);
  }

  #forgetUntil(now: number): void {
    for (const [object, { until }] of this.#last) {
      if (until > now) break;
      this.#last.delete(object);
    }
  }

  #eventOf({ type, namespace, name, uid }: InvolvedObject, announcement: StatusEvent): object {
    const time = wholeSeconds(this.#options.wallTime());
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, name: eventName(name) },
      involvedObject: {
        apiVersion: `${type.group}/${type.version}`,
        kind: type.kind,
        namespace,
        name,
        ...(uid !== undefined && { uid }),
      },
      ...announcement,
      message: clip(announcement.message, MAX_MESSAGE),
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: COMPONENT },
      reportingComponent: COMPONENT,
      reportingInstance: this.#options.identity,
    };
  }

  #failed(error: unknown): void {
    const isForbidden = error instanceof KubernetesApiError && error.code === FORBIDDEN;
    if (isForbidden && this.#isForbidden) return;
    this.#isForbidden = isForbidden;
    this.#options.logger.warn('event could not be written', {}, error);
  }
}

/** What was said of an object last. */
interface LastWord {
  /** undefined: it could not be written. */
  readonly reason: string | undefined;
  /** When it may be said again. */
  readonly until: number;
  /** Of the object. It is full again by `until`, when it is forgotten. */
  readonly bucket: TokenBucket;
}

function keyOf({ type, namespace, name, uid = '' }: InvolvedObject): string {
  return [type.kind, namespace, name, uid].join('/');
}

/** A name that no other Event has, with that of the object as far as there is room. */
function eventName(name: string): string {
  const suffix = `.${randomBytes(RANDOM_BYTES).toString('hex')}`;
  // A label does not end with a hyphen, nor is one empty.
  return name.slice(0, MAX_NAME - suffix.length).replace(/[-.]+$/, '') + suffix;
}
