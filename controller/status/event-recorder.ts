import { randomBytes } from 'node:crypto';

import type { Clock } from '../../shared/process/clock.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { KubernetesApi, ResourceType } from '../kubernetes/kubernetes-api.ts';
import { KubernetesApiError } from '../kubernetes/kubernetes-api.ts';
import { EVENTS } from '../kubernetes/resource-types.ts';
import type { Announcement } from './changes-of-mind.ts';
import { wholeSeconds } from './condition.ts';
import { clip } from './describe-findings.ts';
import { TokenBucket } from '../../shared/process/token-bucket.ts';

/** The object that an Event is about. */
export interface Regarding {
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
const COMPONENT = 'gatehouse';
const MAX_MESSAGE = 1024;
const MAX_NAME = 253;
const RANDOM_BYTES = 8;
const FORBIDDEN = 403;

/**
 * Writes Events, beside the objects that they are about: what was said of an object last is not said
 * again for ten minutes, and only so many are written of all. One that cannot be written is dropped,
 * since conditions say the same.
 *
 * What was said before the last is said again: a Route that is refused, accepted and refused again
 * would otherwise be left with an Event that it is accepted.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #bucket: TokenBucket;
  /** What was said of each object last, in the order of the time until which it is not repeated. */
  readonly #last = new Map<string, LastWord>();
  #isForbidden = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket(RATE);
  }

  /** Never rejects. */
  async record(regarding: Regarding, announcement: Announcement): Promise<void> {
    const object = keyOf(regarding);
    const now = this.#options.clock.now();
    this.#forgetUntil(now);
    const { reason } = announcement;
    if (this.#last.get(object)?.reason === reason || !this.#bucket.take(now)) return;
    const word = { reason, until: now + QUIET_MS };
    this.#last.delete(object);
    this.#last.set(object, word);
    try {
      const event = this.#eventOf(regarding, announcement);
      await this.#options.api.create(EVENTS, regarding.namespace, event);
      this.#isForbidden = false;
    } catch (error) {
      // It was not said.
      if (this.#last.get(object) === word) this.#last.delete(object);
      this.#failed(error);
    }
  }

  #forgetUntil(now: number): void {
    for (const [object, { until }] of this.#last) {
      if (until > now) break;
      this.#last.delete(object);
    }
  }

  #eventOf({ type, namespace, name, uid }: Regarding, announcement: Announcement): object {
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
  readonly reason: string;
  /** When it may be said again. */
  readonly until: number;
}

function keyOf({ type, namespace, name, uid = '' }: Regarding): string {
  return [type.kind, namespace, name, uid].join('/');
}

/** A name that no other Event has, with that of the object as far as there is room. */
function eventName(name: string): string {
  const suffix = `.${randomBytes(RANDOM_BYTES).toString('hex')}`;
  // A label does not end with a hyphen, nor is one empty.
  return name.slice(0, MAX_NAME - suffix.length).replace(/[-.]+$/, '') + suffix;
}
