import { pause, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { WatchMetrics } from '../telemetry/watch-metrics.ts';
import { FORBIDDEN } from './error-codes.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
  type ResourceType,
  type Scope,
  type WatchEvent,
} from './kubernetes-api.ts';
import { MissingType } from './missing-type.ts';
import { ObjectCache, type OnObjectChange } from './object-cache.ts';
import type { KubernetesObject } from './objects.ts';
import { ReflectorBackoff } from './reflector-backoff.ts';
import { HealthRecord, type WatchHealth } from './reflector-health.ts';
import { ReflectorReadiness } from './reflector-readiness.ts';
import { REFLECTOR_TIMES, type ReflectorTimes } from './reflector-times.ts';
import { RequestPace } from './request-pace.ts';
import { WatchTimeout } from './watch-timeout.ts';

const SECOND = 1000;

/** Number of objects in one page of a list: few enough to be parsed in a short time. */
const PAGE_SIZE = 500;

/** How long a watch lasts: a random time, so that not all watches are reopened at once. */
const WATCH_SECONDS = 300;
const WATCH_SECONDS_SPREAD = 60;

/** How much longer than requested a watch may last. */
const OVERDUE_MS = 30 * SECOND;

/** A watch that ends sooner, and without an event, has failed. */
const SHORTEST_WATCH_MS = 5 * SECOND;

/** The time between two lists is shorter by a random share of up to this much. */
const RELIST_SPREAD = 0.1;

/** The place where a watch continues. */
interface WatchPosition {
  readonly version: string;
  /** When all objects are listed again, by the clock. */
  readonly relistAt: number;
}

/** Options of a Reflector. */
export interface ReflectorOptions<Parsed> {
  readonly api: KubernetesApi;
  readonly clock: Clock;
  readonly type: ResourceType;
  readonly scope: Scope;
  /** The type may be missing in the cluster; then it has no objects. */
  readonly isOptional?: boolean;
  /** Returns the part of an object that is cached. */
  readonly parse: (object: KubernetesObject) => Parsed;
  /** Receives every change, also before all objects are known. An error that it throws is logged. */
  readonly onChange: OnObjectChange<Parsed>;
  readonly logger: Logger;
  readonly metrics: Pick<WatchMetrics, 'ended'>;
  readonly times?: Partial<ReflectorTimes>;
}

/**
 * A cache of the objects of one type, kept equal to those of the API server by a list and a watch.
 *
 * It continues after every failure, with the objects that it knows, until it is disposed of. It
 * reports an object only when its version changed, and sends at most two requests a second, not
 * counting the pages of a list. A refused list does not count as an empty one.
 */
export class Reflector<Parsed> implements AsyncDisposable {
  readonly #options: ReflectorOptions<Parsed> & { readonly times: ReflectorTimes };
  readonly #cache: ObjectCache<Parsed>;
  readonly #health: HealthRecord;
  readonly #pace: RequestPace;
  readonly #backoff: ReflectorBackoff;
  readonly #missingType: MissingType;
  readonly #readiness = new ReflectorReadiness();
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  /** Undefined: a list is needed first. */
  #position: WatchPosition | undefined;

  constructor(options: ReflectorOptions<Parsed>) {
    const { clock } = options;
    const times = { ...REFLECTOR_TIMES, ...options.times };
    this.#options = { ...options, times };
    this.#pace = new RequestPace(clock, times.paceMs);
    this.#backoff = new ReflectorBackoff(times);
    this.#missingType = new MissingType(clock, times.notInstalledMs);
    this.#cache = new ObjectCache(options.parse, (...change) => this.#report(...change));
    this.#health = new HealthRecord(options.type, options.scope, options.logger);
    this.#ended = this.#run();
  }

  /** Resolves when all objects are known for the first time. Never rejects. */
  get synced(): Promise<void> {
    return this.#readiness.synced;
  }

  /**
   * Resolves when all objects are known for the first time, or when the API server denies access to
   * them. Denied access is retried all the same. Never rejects.
   */
  get answered(): Promise<void> {
    return this.#readiness.answered;
  }

  get health(): WatchHealth {
    return this.#health.current;
  }

  /** An object by `namespace/name`, or by name if its type has no namespaces. */
  get(key: string): Parsed | undefined {
    return this.#cache.get(key);
  }

  keys(): Iterable<string> {
    return this.#cache.keys();
  }

  /** Ends the watch. No change is reported afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  /** A method, because the result may differ after each await. */
  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed()) {
      await this.#pace.next(this.#closing.signal);
      if (this.#isClosed()) return;
      try {
        if (this.#position === undefined) await this.#list();
        else await this.#watch(this.#position);
      } catch (error) {
        if (!this.#isClosed()) await this.#recover(error);
      }
    }
  }

  #recordEnd(reason: 'ended' | 'failed'): void {
    this.#options.metrics.ended(this.#options.type.plural, reason);
  }

  async #list(): Promise<void> {
    const replacement = this.#cache.startReplacement();
    let version: string;
    try {
      version = await this.#readPages((object) => replacement.add(object));
    } catch (error) {
      if (!this.#isMissing(error)) throw error;
      await this.#pauseEmpty();
      return;
    }
    if (this.#isClosed()) return;
    replacement.commit();
    this.#missingType.recordFound();
    this.#position = { version, relistAt: this.#nextRelistAt() };
    this.#recordSync();
  }

  /** Returns a random time, so that not all types are listed at once. */
  #nextRelistAt(): number {
    const { clock, times } = this.#options;
    return clock.now() + times.relistMs * (1 - Math.random() * RELIST_SPREAD);
  }

  /** Returns the version of the list. */
  async #readPages(add: (object: KubernetesObject) => void): Promise<string> {
    const { api, type, scope } = this.#options;
    const { signal } = this.#closing;
    let page = await api.list(type, scope, { limit: PAGE_SIZE, signal });
    const { resourceVersion } = page;
    for (;;) {
      page.items.forEach(add);
      const { continueAt } = page;
      if (continueAt === undefined) return resourceVersion;
      page = await api.list(type, scope, { limit: PAGE_SIZE, continueAt, signal });
    }
  }

  #isMissing(error: unknown): boolean {
    if (this.#options.isOptional !== true) return false;
    return this.#missingType.recordFailure(error, { knownObjects: this.#cache.size });
  }

  /** Empties the cache, and waits before the type is listed again. */
  async #pauseEmpty(): Promise<void> {
    if (this.#isClosed()) return;
    const { clock, times } = this.#options;
    this.#cache.startReplacement().commit();
    this.#backoff.reset();
    this.#health.recordNotInstalled();
    this.#recordSync();
    await pause(clock, times.notInstalledMs, this.#closing.signal);
  }

  #recordSync(): void {
    this.#health.recordSync();
    this.#readiness.recordSync();
  }

  async #watch({ version: resourceVersion, relistAt }: WatchPosition): Promise<void> {
    const { clock } = this.#options;
    const openedAt = clock.now();
    const timeoutSeconds = WATCH_SECONDS + Math.floor(Math.random() * WATCH_SECONDS_SPREAD);
    using timeout = this.#timeout(timeoutSeconds, relistAt);
    const isShort = (): boolean => clock.now() - openedAt < SHORTEST_WATCH_MS;
    let hasEvents: boolean;
    try {
      hasEvents = await this.#readEvents({ resourceVersion, timeoutSeconds, timeout });
    } finally {
      if (timeout.wasActive && !isShort()) this.#backoff.reset();
    }
    if (this.#isClosed()) return;
    if (clock.now() >= relistAt) this.#position = undefined;
    if (!timeout.wasActive) throw new Error('no response to a watch');
    if (!hasEvents && isShort() && !timeout.signal.aborted) {
      throw new Error('a watch ended at once');
    }
    this.#recordEnd('ended');
  }

  /** Applies the events of a watch until it ends. Returns whether there were any. */
  async #readEvents({
    resourceVersion,
    timeoutSeconds,
    timeout,
  }: {
    readonly resourceVersion: string;
    readonly timeoutSeconds: number;
    readonly timeout: WatchTimeout;
  }): Promise<boolean> {
    const { api, type, scope } = this.#options;
    const onOpen = (): void => {
      timeout.recordActivity();
      this.#health.recordWatch();
    };
    const options = { resourceVersion, timeoutSeconds, signal: timeout.signal, onOpen };
    let hasEvents = false;
    for await (const event of api.watch(type, scope, options)) {
      if (this.#isClosed()) break;
      if (event.type === 'ERROR') throw event.error;
      onOpen();
      hasEvents = true;
      this.#backoff.reset();
      this.#apply(event);
    }
    return hasEvents;
  }

  #timeout(timeoutSeconds: number, relistAt: number): WatchTimeout {
    const { clock, times } = this.#options;
    const { inactivityMs } = times;
    const overdueMs = timeoutSeconds * SECOND + OVERDUE_MS;
    const deadlineMs = Math.max(0, Math.min(overdueMs, relistAt - clock.now()));
    return new WatchTimeout({ clock, closing: this.#closing.signal, inactivityMs, deadlineMs });
  }

  #apply({ type, object }: Exclude<WatchEvent, { type: 'ERROR' }>): void {
    if (type === 'DELETED') this.#cache.remove(object);
    else if (type !== 'BOOKMARK') this.#cache.put(object);
    const { resourceVersion: version } = object.metadata;
    if (this.#position !== undefined && version !== undefined) {
      this.#position = { ...this.#position, version };
    }
  }

  async #recover(error: unknown): Promise<void> {
    this.#recordEnd('failed');
    const delayMs = this.#backoff.fail(error);
    const code = error instanceof KubernetesApiError ? error.code : undefined;
    // After any other refusal the server may never have had this version: a server that was restored
    // from a backup starts at an older one.
    if (code !== undefined && !isTemporary(code)) this.#position = undefined;
    // A single failure is normal: the watch usually works again at once.
    if (this.#backoff.failures > 1) this.#health.recordFailure(error);
    if (code === FORBIDDEN) this.#readiness.recordDenial();
    await pause(this.#options.clock, delayMs, this.#closing.signal);
  }

  #report(...[key, object, before]: Parameters<OnObjectChange<Parsed>>): void {
    try {
      this.#options.onChange(key, object, before);
    } catch (error) {
      const fields = { resource: this.#options.type.plural, key };
      this.#options.logger.error('cannot handle a change of a kubernetes object', fields, error);
    }
  }
}

/** Whether the same request may succeed shortly after. */
function isTemporary(code: number): boolean {
  return code === 429 || code === 500 || code === 502 || code === 503;
}
