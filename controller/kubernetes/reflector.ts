import { pause, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import {
  KubernetesApiError,
  type KubernetesApi,
  type ResourceType,
  type Scope,
  type WatchEvent,
} from './kubernetes-api.ts';
import { ObjectCache, type OnObjectChange } from './object-cache.ts';
import type { KubernetesObject } from './objects.ts';
import { ReflectorBackoff } from './reflector-backoff.ts';
import { HealthRecord, type WatchHealth } from './reflector-health.ts';
import { REFLECTOR_TIMES, type ReflectorTimes } from './reflector-times.ts';
import { RequestPace } from './request-pace.ts';
import { WatchTimeout } from './watch-timeout.ts';

const SECOND = 1000;

/** Objects of one page of a list: few enough to be parsed in a short time. */
const PAGE_SIZE = 500;

/** How long a watch lasts: a random time, so that not all watches are reopened at once. */
const WATCH_SECONDS = 300;
const WATCH_SECONDS_SPREAD = 60;

/** How much longer than requested a watch may last. */
const OVERDUE_MS = 30 * SECOND;

/** A watch that ends sooner, and without an event, has failed. */
const SHORTEST_WATCH_MS = 5 * SECOND;

const FORBIDDEN = 403;

/** What a Reflector is made with. */
export interface ReflectorOptions<Parsed> {
  readonly api: KubernetesApi;
  readonly clock: Clock;
  readonly type: ResourceType;
  readonly scope: Scope;
  /** The type may be missing in the cluster; then it has no objects. */
  readonly isOptional?: boolean;
  /** Parses an object into what is cached of it. */
  readonly parse: (object: KubernetesObject) => Parsed;
  /** Receives every change, also before all objects are known. What it throws is logged. */
  readonly onChange: OnObjectChange<Parsed>;
  readonly logger: Logger;
  readonly times?: Partial<ReflectorTimes>;
}

/**
 * A cache of the objects of one type, kept equal to those of the API server by a list and a watch.
 *
 * It continues after every failure, with the objects that it knows, until it is disposed of. It
 * reports an object only when its version changed, and sends at most two requests a second, not
 * counting the pages of a list. A list that is refused is never taken for an empty one.
 */
export class Reflector<Parsed> implements AsyncDisposable {
  readonly #options: ReflectorOptions<Parsed>;
  readonly #times: ReflectorTimes;
  readonly #cache: ObjectCache<Parsed>;
  readonly #health: HealthRecord;
  readonly #pace: RequestPace;
  readonly #backoff: ReflectorBackoff;
  readonly #closing = new AbortController();
  readonly #synced = Promise.withResolvers<undefined>();
  readonly #answered = Promise.withResolvers<undefined>();
  readonly #ended: Promise<void>;
  /** The version at which the watch continues; undefined: a list is needed first. */
  #version: string | undefined;
  #relistAt = 0;
  #notInstalledSince: number | undefined;

  constructor(options: ReflectorOptions<Parsed>) {
    this.#options = options;
    this.#times = { ...REFLECTOR_TIMES, ...options.times };
    this.#pace = new RequestPace(options.clock, this.#times.paceMs);
    this.#backoff = new ReflectorBackoff(this.#times);
    this.#cache = new ObjectCache(options.parse, (...change) => this.#report(...change));
    this.#health = new HealthRecord(options.type, options.scope, options.logger);
    this.#ended = this.#run();
  }

  /** Resolves when all objects are known for the first time. Never rejects. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /**
   * Resolves when all objects are known for the first time, or when the API server denies access to
   * them, which is retried all the same. Never rejects.
   */
  get answered(): Promise<void> {
    return this.#answered.promise;
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

  /** A method, because the answer may differ after each await. */
  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed()) {
      await this.#pace.next(this.#closing.signal);
      if (this.#isClosed()) return;
      try {
        if (this.#version === undefined) await this.#list();
        else await this.#watch(this.#version);
      } catch (error) {
        if (!this.#isClosed()) await this.#recover(error);
      }
    }
  }

  async #list(): Promise<void> {
    const replacement = this.#cache.startReplacement();
    let version: string;
    try {
      version = await this.#readPages((object) => replacement.add(object));
    } catch (error) {
      if (!this.#isMissing(error)) throw error;
      await this.#beEmptyForAWhile();
      return;
    }
    if (this.#isClosed()) return;
    replacement.commit();
    this.#version = version;
    this.#notInstalledSince = undefined;
    // At random, so that not all types are listed at once.
    const relistMs = this.#times.relistMs * (1 - Math.random() / 10);
    this.#relistAt = this.#options.clock.now() + relistMs;
    this.#becomeSynced();
  }

  /** Returns the version of the list. */
  async #readPages(add: (object: KubernetesObject) => void): Promise<string> {
    const { api, type, scope } = this.#options;
    const { signal } = this.#closing;
    let page = await api.list(type, scope, { limit: PAGE_SIZE, signal });
    const { resourceVersion } = page;
    for (;;) {
      this.#health.recordResponse();
      page.items.forEach(add);
      const { continueAt } = page;
      if (continueAt === undefined) return resourceVersion;
      page = await api.list(type, scope, { limit: PAGE_SIZE, continueAt, signal });
    }
  }

  /**
   * Whether an error reliably means that the type is not installed.
   *
   * If objects are known, it does so only after a while: a type that is removed deletes its objects
   * one by one, while an API server that is starting does not know its types yet.
   */
  #isMissing(error: unknown): boolean {
    const isNotFound = error instanceof KubernetesApiError && error.code === 404;
    if (this.#options.isOptional !== true || !isNotFound) return false;
    const now = this.#options.clock.now();
    this.#notInstalledSince ??= now;
    return this.#cache.size === 0 || now - this.#notInstalledSince >= this.#times.notInstalledMs;
  }

  async #beEmptyForAWhile(): Promise<void> {
    if (this.#isClosed()) return;
    this.#cache.startReplacement().commit();
    this.#backoff.reset();
    this.#health.recordNotInstalled();
    this.#becomeSynced();
    await pause(this.#options.clock, this.#times.notInstalledMs, this.#closing.signal);
  }

  #becomeSynced(): void {
    this.#health.recordSync();
    this.#synced.resolve(undefined);
    this.#answered.resolve(undefined);
  }

  async #watch(resourceVersion: string): Promise<void> {
    const { clock } = this.#options;
    const openedAt = clock.now();
    const timeoutSeconds = WATCH_SECONDS + Math.floor(Math.random() * WATCH_SECONDS_SPREAD);
    using timeout = this.#timeout(timeoutSeconds);
    const isShort = (): boolean => clock.now() - openedAt < SHORTEST_WATCH_MS;
    let hasEvents: boolean;
    try {
      hasEvents = await this.#readEvents({ resourceVersion, timeoutSeconds, timeout });
    } finally {
      if (timeout.wasActive && !isShort()) this.#backoff.reset();
    }
    if (this.#isClosed()) return;
    if (clock.now() >= this.#relistAt) this.#version = undefined;
    if (!timeout.wasActive) throw new Error('no response to a watch');
    if (!hasEvents && isShort() && !timeout.signal.aborted) {
      throw new Error('a watch ended at once');
    }
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

  #timeout(timeoutSeconds: number): WatchTimeout {
    const { clock } = this.#options;
    const { inactivityMs } = this.#times;
    const overdueMs = timeoutSeconds * SECOND + OVERDUE_MS;
    const deadlineMs = Math.max(0, Math.min(overdueMs, this.#relistAt - clock.now()));
    return new WatchTimeout({ clock, closing: this.#closing.signal, inactivityMs, deadlineMs });
  }

  #apply({ type, object }: Exclude<WatchEvent, { type: 'ERROR' }>): void {
    if (type === 'DELETED') this.#cache.remove(object);
    else if (type !== 'BOOKMARK') this.#cache.put(object);
    this.#version = object.metadata.resourceVersion ?? this.#version;
  }

  async #recover(error: unknown): Promise<void> {
    const delayMs = this.#backoff.fail(error);
    const code = error instanceof KubernetesApiError ? error.code : undefined;
    // After any other error the version may be one that the server never had: a server that was
    // restored from a backup starts at an older one.
    if (code !== undefined && !isTemporary(code)) this.#version = undefined;
    // One failure is normal: a watch that ends like this usually works again at once.
    if (this.#backoff.failures > 1) this.#health.recordFailure(error);
    if (code === FORBIDDEN) this.#answered.resolve(undefined);
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

/** Whether the same request may succeed in a moment. */
function isTemporary(code: number): boolean {
  return code === 429 || code === 500 || code === 502 || code === 503;
}
