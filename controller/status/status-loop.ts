import { every, monotonicClock, type Clock } from '../../shared/runtime/clock.ts';
import { routeKey, SETTINGS_KEY } from '../../shared/snapshot/resource-key.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { Trace } from '../../shared/telemetry/tracing/trace.ts';
import type { RouteVerdict, SettingsVerdict } from '../compile/compilation.ts';
import type { KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import type { KubernetesObject, Service } from '../kubernetes/objects.ts';
import type { StoredRoute, StoredSettings } from '../kubernetes/stored-resources.ts';
import type { Leadership } from '../leader/leadership.ts';
import type { OnPublicationChange, Publication } from '../push/publication.ts';
import type { ControllerMetrics } from '../telemetry/controller-metrics.ts';
import { StatusTraces } from '../telemetry/status-traces.ts';
import type { ReleasedRoute } from '../watch/released-route.ts';
import { AssessmentGuard } from './assessment-guard.ts';
import { AssessmentQueue } from './assessment-queue.ts';
import { compareStatus, type Difference } from './compare-status.ts';
import { EventRecorder } from './event-recorder.ts';
import { eventsOfChange } from './events-of-change.ts';
import { StatusBook, type BookWrite } from './status-book.ts';
import { DEFAULT_LIMITS, StatusWriter, type StatusWriterLimits } from './status-writer.ts';
import { VerdictTally } from './verdict-tally.ts';

/** Options of a StatusLoop. */
export interface StatusLoopOptions {
  readonly api: Pick<KubernetesApi, 'applyStatus' | 'create'>;
  /** The name of this process, as in the Lease. */
  readonly identity: string;
  /** The class of this gateway. */
  readonly gatewayClass: string;
  readonly logger: Logger;
  readonly metrics: Pick<ControllerMetrics, 'compile' | 'status'>;
  readonly clock?: Clock;
  readonly wallTime?: () => Date;
  readonly limits?: StatusWriterLimits;
}

/** Delay before a changed status is repaired: the watch may report an older one than was written. */
const REPAIR_MS = 2000;
/** How often the statuses of resources with certificates are checked. */
const CERTIFICATES_MS = 60 * 60 * 1000;
/**
 * The longest delay of a write, by how much it changes. Proxies usually acknowledge a change in less
 * than a second, so one write can report both.
 */
const WITHIN_MS: Readonly<Record<Exclude<Difference, 'none'>, number>> = {
  final: 0,
  provisional: 1000,
  detail: 5000,
};

/**
 * Keeps the statuses of Routes and GatewaySettings up to date, and records Events about changes.
 *
 * It receives every change, but writes only while this controller leads. It assesses a change in a
 * later turn of the event loop, when a publication in the same turn as the verdict is known.
 */
export class StatusLoop {
  readonly #options: Required<StatusLoopOptions>;
  readonly #book: StatusBook;
  readonly #events: EventRecorder;
  readonly #traces: StatusTraces;
  readonly #queue = new AssessmentQueue((key) => this.#assess(key));
  readonly #guard: AssessmentGuard;
  #writer: StatusWriter<BookWrite> | undefined;

  constructor(options: StatusLoopOptions) {
    this.#options = {
      clock: monotonicClock,
      wallTime: () => new Date(),
      limits: DEFAULT_LIMITS,
      ...options,
    };
    const { metrics } = options;
    this.#traces = new StatusTraces(() => this.#options.clock.now());
    this.#book = new StatusBook({
      ...this.#options,
      tally: new VerdictTally(metrics.compile),
    });
    metrics.status.readPendingFrom(() => this.#writer?.pending ?? 0);
    this.#events = new EventRecorder(this.#options);
    this.#guard = new AssessmentGuard(options.logger);
  }

  /** Writes statuses from now on, until the leadership ends. */
  beginTerm({
    leadership,
    publication,
  }: {
    readonly leadership: Leadership;
    readonly publication: Publication;
  }): void {
    const writer = new StatusWriter<BookWrite>({
      ...this.#options,
      metrics: this.#options.metrics.status,
      traces: this.#traces,
      leadership,
      source: {
        write: (key) => this.#guard.assess(key, () => this.#book.writeOf(key)),
        written: (_key, write, object) => this.#recordWrite(write, object, leadership.signal),
        refused: (_key, write) => this.#book.refused(write),
      },
    });
    this.#writer = writer;
    this.#book.publication = publication;
    this.#queue.clear();
    this.#recheckAll();
    leadership.signal.addEventListener('abort', () => this.#resign(writer), { once: true });
    this.#watchCertificates(leadership.signal);
  }

  /**
   * Receives verdicts of the compiler, by `namespace/name`, and the trace of the change that they are about;
   * undefined: the Route is deleted.
   */
  reportRoutes(verdicts: ReadonlyMap<string, RouteVerdict | undefined>, trace?: Trace): void {
    this.#traces.changed([...verdicts.keys()].map(routeKey), trace);
    for (const [name, verdict] of verdicts) {
      this.#book.setRouteVerdict(routeKey(name), verdict);
      this.#recheckOne(routeKey(name));
    }
    this.#recheckOne(SETTINGS_KEY);
  }

  /** Receives a verdict on the settings, and the trace of the change; null: they are deleted. */
  reportSettings(verdict: SettingsVerdict | null, trace?: Trace): void {
    this.#traces.changed([SETTINGS_KEY], trace);
    this.#book.setSettingsVerdict(verdict ?? undefined);
    this.#recheckOne(SETTINGS_KEY);
  }

  /** The generation that a key of the snapshot is compiled from; undefined if nothing of it serves. */
  servedGeneration(key: string): number | undefined {
    return this.#book.servedGeneration(key);
  }

  /** Receives watched Routes, by `namespace/name`; undefined: the Route is deleted. */
  observeRoutes(routes: ReadonlyMap<string, StoredRoute | undefined>): void {
    for (const [name, route] of routes) {
      const key = routeKey(name);
      if (this.#book.observeRoute(key, route)) this.#writer?.request(key, REPAIR_MS);
    }
  }

  /** Receives the watched settings; undefined: they are deleted. */
  observeSettings(settings: StoredSettings | undefined): void {
    if (this.#book.observeSettings(settings)) this.#writer?.request(SETTINGS_KEY, REPAIR_MS);
  }

  /** Receives a released Route; undefined: it was deleted, or is served again. */
  releaseRoute(name: string, released: ReleasedRoute | undefined): void {
    const key = routeKey(name);
    const wasReleased = this.#book.isReleased(key);
    this.#book.release(key, released);
    if (released === undefined) return;
    if (wasReleased) this.#writer?.request(key, REPAIR_MS);
    else this.#recheckOne(key);
  }

  /** Receives the Service in front of the proxies; undefined: it does not exist. */
  setProxyService(service: Service | undefined): void {
    this.#book.service = service;
    this.#recheckOne(SETTINGS_KEY);
  }

  /** Receives the reason why publication is held back; undefined: it is not. */
  setObstacle(reason: string | undefined): void {
    if (reason === this.#book.obstacle) return;
    this.#book.obstacle = reason;
    this.#recheckAll();
  }

  /** Checks statuses again after the rollout state of these keys may have changed. */
  readonly recheck: OnPublicationChange = (keys) => {
    if (keys === 'all') this.#recheckAll();
    else for (const key of keys) this.#recheckOne(key);
    this.#recheckOne(SETTINGS_KEY);
  };

  /** Certificates expire without any change in the cluster. */
  #watchCertificates(signal: AbortSignal): void {
    const timer = every(this.#options.clock, CERTIFICATES_MS, () => {
      for (const key of this.#book.keysWithCertificates()) this.#recheckOne(key);
    });
    signal.addEventListener('abort', () => timer[Symbol.dispose](), { once: true });
  }

  #resign(writer: StatusWriter<BookWrite>): void {
    if (this.#writer !== writer) return;
    this.#writer = undefined;
    this.#book.publication = undefined;
  }

  #recheckAll(): void {
    for (const key of this.#book.keys()) this.#recheckOne(key);
  }

  #recheckOne(key: string): void {
    if (this.#writer !== undefined && this.#book.has(key)) this.#queue.add(key);
  }

  #assess(key: string): void {
    this.#guard.assess(key, () => {
      const write = this.#book.writeOf(key);
      if (write === undefined) return;
      const difference = compareStatus(write.before, write.status);
      if (difference !== 'none') this.#writer?.request(key, WITHIN_MS[difference]);
    });
  }

  #recordWrite(write: BookWrite, object: KubernetesObject, signal: AbortSignal): void {
    this.#book.written(write, object);
    // The wanted status may have changed during the write.
    this.#recheckOne(write.key);
    if (write.kind === 'route' && write.isRelease) return;
    const involved = { type: write.type, ...write.place, uid: object.metadata.uid };
    for (const event of eventsOfChange(write.before, write.status)) {
      void this.#events.record(involved, event, signal);
    }
  }
}
