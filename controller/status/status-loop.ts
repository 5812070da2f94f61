import { monotonicClock, type Clock } from '../../shared/runtime/clock.ts';
import { routeKey, SETTINGS_KEY } from '../../shared/snapshot/resource-key.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import type { KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import type { KubernetesObject, Service } from '../kubernetes/objects.ts';
import type { StoredRoute, StoredSettings } from '../kubernetes/stored-resources.ts';
import type { Leadership } from '../leader/leadership.ts';
import type { OnPublicationChange, Publication } from '../push/publication.ts';
import type { ReleasedRoute } from '../watch/released-route.ts';
import { eventsOfChange } from './events-of-change.ts';
import { compareStatus, type Difference } from './compare-status.ts';
import { EventRecorder } from './event-recorder.ts';
import { StatusBook, type BookWrite } from './status-book.ts';
import { DEFAULT_LIMITS, StatusWriter, type StatusWriterLimits } from './status-writer.ts';

export interface StatusLoopOptions {
  readonly api: Pick<KubernetesApi, 'applyStatus' | 'create'>;
  /** Of this process, as in the Lease. */
  readonly identity: string;
  /** The class of this gateway. */
  readonly gatewayClass: string;
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly wallTime?: () => Date;
  readonly limits?: StatusWriterLimits;
}

/** Objects that are looked at in one turn of the event loop. */
const SLICE = 200;
/** What the watch brings may be older than what was written; then something newer follows soon. */
const REPAIR_MS = 2000;
/**
 * Proxies acknowledge a change in less than a second as a rule, so that it is told of in one write.
 * Counters are told of now and then.
 */
const WITHIN_MS: Readonly<Record<Exclude<Difference, 'none'>, number>> = {
  final: 0,
  provisional: 1000,
  detail: 5000,
};

/**
 * Tells people what became of their Routes and GatewaySettings.
 *
 * It is told everything, whether this controller leads or not, and writes while it leads. Its work
 * follows what changes, in the turns of the event loop after the call: what is published in the same
 * turn as a verdict is told is known by then.
 */
export class StatusLoop {
  readonly #options: Required<StatusLoopOptions>;
  readonly #book: StatusBook;
  readonly #events: EventRecorder;
  readonly #dirty = new Set<string>();
  #writer: StatusWriter<BookWrite> | undefined;
  #isScheduled = false;

  constructor(options: StatusLoopOptions) {
    this.#options = {
      clock: monotonicClock,
      wallTime: () => new Date(),
      limits: DEFAULT_LIMITS,
      ...options,
    };
    this.#book = new StatusBook(this.#options);
    this.#events = new EventRecorder(this.#options);
  }

  /** Writes from now on, until the leadership ends. */
  lead({
    leadership,
    publication,
  }: {
    readonly leadership: Leadership;
    readonly publication: Publication;
  }): void {
    const writer = new StatusWriter<BookWrite>({
      ...this.#options,
      leadership,
      source: {
        write: (key) => this.#book.writeOf(key),
        written: (_key, write, object) => this.#written(write, object, leadership.signal),
        refused: (_key, write) => this.#book.refused(write),
      },
    });
    this.#writer = writer;
    this.#book.publication = publication;
    this.#dirty.clear();
    this.#markAll();
    leadership.signal.addEventListener('abort', () => this.#follow(writer), { once: true });
  }

  /** New verdicts of the compiler, by `namespace/name`; undefined: the Route is gone. */
  reportRoutes(verdicts: ReadonlyMap<string, RouteVerdict | undefined>): void {
    for (const [name, verdict] of verdicts) {
      this.#book.setRouteVerdict(routeKey(name), verdict);
      this.#mark(routeKey(name));
    }
    this.#mark(SETTINGS_KEY);
  }

  /** A new verdict on the settings; null: they are gone. */
  reportSettings(verdict: SettingsVerdict | null): void {
    this.#book.setSettingsVerdict(verdict ?? undefined);
    this.#mark(SETTINGS_KEY);
  }

  /** Routes as the watch brought them, by `namespace/name`; undefined: it is gone. */
  observeRoutes(routes: ReadonlyMap<string, StoredRoute | undefined>): void {
    for (const [name, route] of routes) {
      const key = routeKey(name);
      if (this.#book.observeRoute(key, route)) this.#writer?.request(key, REPAIR_MS);
    }
  }

  /**
   * A Route that is there and does not serve here any more; undefined: it is gone altogether, or
   * serves again.
   */
  releaseRoute(name: string, released: ReleasedRoute | undefined): void {
    const key = routeKey(name);
    const isKnown = this.#book.isReleased(key);
    this.#book.release(key, released);
    if (released === undefined) return;
    if (isKnown) this.#writer?.request(key, REPAIR_MS);
    else this.#mark(key);
  }

  /** The settings as the watch brought them; undefined: they are gone. */
  observeSettings(settings: StoredSettings | undefined): void {
    if (this.#book.observeSettings(settings)) this.#writer?.request(SETTINGS_KEY, REPAIR_MS);
  }

  /** The Service in front of the proxies; undefined when it is not known. */
  setProxyService(service: Service | undefined): void {
    this.#book.service = service;
    this.#mark(SETTINGS_KEY);
  }

  /** Why nothing is published at present; undefined: it is. */
  setObstacle(reason: string | undefined): void {
    if (reason === this.#book.obstacle) return;
    this.#book.obstacle = reason;
    this.#markAll();
  }

  /** To be called for changes of the publication that it leads with. */
  readonly recheck: OnPublicationChange = (keys) => {
    if (keys === 'all') this.#markAll();
    else for (const key of keys) this.#mark(key);
    this.#mark(SETTINGS_KEY);
  };

  #follow(writer: StatusWriter<BookWrite>): void {
    if (this.#writer !== writer) return;
    this.#writer = undefined;
    this.#book.publication = undefined;
  }

  #markAll(): void {
    for (const key of this.#book.keys()) this.#mark(key);
  }

  #mark(key: string): void {
    if (this.#writer === undefined || !this.#book.has(key)) return;
    this.#dirty.add(key);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#assessSlice());
  }

  #assessSlice(): void {
    let count = 0;
    for (const key of this.#dirty) {
      if (count === SLICE) break;
      this.#dirty.delete(key);
      this.#assess(key);
      count += 1;
    }
    this.#isScheduled = this.#dirty.size > 0;
    if (this.#isScheduled) setImmediate(() => this.#assessSlice());
  }

  #assess(key: string): void {
    const write = this.#book.writeOf(key);
    if (write === undefined) return;
    const difference = compareStatus(write.before, write.status);
    if (difference !== 'none') this.#writer?.request(key, WITHIN_MS[difference]);
  }

  #written(write: BookWrite, object: KubernetesObject, signal: AbortSignal): void {
    this.#book.written(write, object);
    // While it was under way, something else may have become true.
    this.#mark(write.key);
    if (write.kind === 'route' && write.isRelease) return;
    const regarding = { type: write.type, ...write.place, uid: object.metadata.uid };
    for (const announcement of eventsOfChange(write.before, write.status)) {
      void this.#events.record(regarding, announcement, signal);
    }
  }
}
