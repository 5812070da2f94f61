import { monotonicClock, pause } from '../../shared/runtime/clock.ts';
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
import { HealthRecord, type WatchHealth } from './reflector-health.ts';
import { RequestPace } from './request-pace.ts';
import { WatchAlarm } from './watch-alarm.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Objects of one answer: a small part of what a list may have, so that none is long to parse. */
const PAGE_SIZE = 500;

/** After which the API server ends a watch. At random: they do not all come back at once. */
const WATCH_SECONDS = 300;
const WATCH_SECONDS_SPREAD = 60;

/** Over the time a watch was asked to last. */
const OVERDUE_MS = 30 * SECOND;

/** A watch that ends sooner, and without a change, did not work. */
const SHORTEST_WATCH_MS = 5 * SECOND;

const FORBIDDEN = 403;

/** The most of the time to wait that a server, or what is in front of it, may ask for. */
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** How long a reflector waits for what. */
export interface ReflectorTimes {
  /**
   * Silence after which a watch is opened anew: its connection may be dead. API servers send a
   * bookmark every minute, so a watch that works is silent for longer only before its first change.
   */
  readonly inactivityMs: number;
  /** From one full list to the next. Watches have lost changes before. */
  readonly relistMs: number;
  /** Until a type that is not installed is looked for again. */
  readonly notInstalledMs: number;
  /** In which two requests are sent at most. */
  readonly paceMs: number;
  readonly shortestBackoffMs: number;
  /** Short enough to be back within half a minute when the API server is. */
  readonly longestBackoffMs: number;
}

const TIMES: ReflectorTimes = {
  inactivityMs: 75 * SECOND,
  relistMs: 10 * MINUTE,
  notInstalledMs: MINUTE,
  paceMs: SECOND,
  shortestBackoffMs: 200,
  longestBackoffMs: 20 * SECOND,
};

export interface ReflectorOptions<Parsed> {
  readonly api: KubernetesApi;
  readonly type: ResourceType;
  readonly scope: Scope;
  /** The type need not be installed: without it there are no objects. */
  readonly isOptional?: boolean;
  /** Parses an object into what is cached of it. */
  readonly parse: (object: KubernetesObject) => Parsed;
  /** Told of every difference, also before all objects are known. What it throws is logged. */
  readonly onChange: OnObjectChange<Parsed>;
  readonly logger: Logger;
  readonly times?: Partial<ReflectorTimes>;
}

/**
 * The objects of one type, kept equal to those of the API server by a list and a watch.
 *
 * Whatever goes wrong, it goes on, with what it knew last, until it is disposed of. It tells of an
 * object only when its version is another, and sends two requests a second at most, not counting
 * the pages of a list. A list that is refused is never taken for an empty one.
 */
export class Reflector<Parsed> implements AsyncDisposable {
  readonly #options: ReflectorOptions<Parsed>;
  readonly #times: ReflectorTimes;
  readonly #cache: ObjectCache<Parsed>;
  readonly #health: HealthRecord;
  readonly #pace: RequestPace;
  readonly #closing = new AbortController();
  readonly #synced = Promise.withResolvers<undefined>();
  readonly #answered = Promise.withResolvers<undefined>();
  readonly #ended: Promise<void>;
  /** Where the watch goes on; undefined: a list is needed first. */
  #version: string | undefined;
  #relistAt = 0;
  #notInstalledSince: number | undefined;
  /** Attempts in a row that came to nothing. */
  #failures = 0;

  constructor(options: ReflectorOptions<Parsed>) {
    this.#options = options;
    this.#times = { ...TIMES, ...options.times };
    this.#pace = new RequestPace(this.#times.paceMs);
    this.#cache = new ObjectCache(options.parse, (...change) => this.#tell(...change));
    this.#health = new HealthRecord(options.type, options.scope, options.logger);
    this.#ended = this.#run();
  }

  /** Resolves when all objects are known for the first time. Never rejects. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /**
   * Resolves when all objects are known for the first time, or we are told that we may not know
   * them, which is asked again all the same. Never rejects.
   */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  get health(): WatchHealth {
    return this.#health.current;
  }

  /** An object by `namespace/name`, or by name where there is no namespace. */
  get(key: string): Parsed | undefined {
    return this.#cache.get(key);
  }

  keys(): Iterable<string> {
    return this.#cache.keys();
  }

  /** Ends the watch. No change is told of afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#ended;
  }

  /** Asked anew each time: it changes while we wait. */
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
    const { api, type, scope } = this.#options;
    const { signal } = this.#closing;
    const replacement = this.#cache.startReplacement();
    try {
      let page = await api.list(type, scope, { limit: PAGE_SIZE, signal });
      const { resourceVersion } = page;
      for (;;) {
        this.#health.heard();
        page.items.forEach((item) => replacement.add(item));
        const { continueAt } = page;
        if (continueAt === undefined) break;
        page = await api.list(type, scope, { limit: PAGE_SIZE, continueAt, signal });
      }
      if (this.#isClosed()) return;
      replacement.commit();
      this.#version = resourceVersion;
    } catch (error) {
      if (!this.#mayBeMissing(error)) throw error;
      await this.#beEmptyForAWhile();
      return;
    }
    this.#notInstalledSince = undefined;
    // Not all types at once.
    this.#relistAt = performance.now() + this.#times.relistMs * (1 - Math.random() / 10);
    this.#becomeSynced();
  }

  /**
   * Whether an error says that there is no such type, and that is to be believed.
   *
   * Not at once where objects are known: a type takes them along, one by one, when it goes, while
   * an API server that is only starting does not know its types yet.
   */
  #mayBeMissing(error: unknown): boolean {
    const isMissing = error instanceof KubernetesApiError && error.code === 404;
    if (this.#options.isOptional !== true || !isMissing) return false;
    const now = performance.now();
    this.#notInstalledSince ??= now;
    return this.#cache.size === 0 || now - this.#notInstalledSince >= this.#times.notInstalledMs;
  }

  async #beEmptyForAWhile(): Promise<void> {
    if (this.#isClosed()) return;
    this.#cache.startReplacement().commit();
    this.#failures = 0;
    this.#health.isNotInstalled();
    this.#becomeSynced();
    await pause(monotonicClock, this.#times.notInstalledMs, this.#closing.signal);
  }

  #becomeSynced(): void {
    this.#health.synced();
    this.#synced.resolve(undefined);
    this.#answered.resolve(undefined);
  }

  async #watch(resourceVersion: string): Promise<void> {
    const { api, type, scope } = this.#options;
    const timeoutSeconds = WATCH_SECONDS + Math.floor(Math.random() * WATCH_SECONDS_SPREAD);
    const openedAt = performance.now();
    using alarm = this.#alarm(timeoutSeconds);
    const onOpen = (): void => {
      alarm.postpone();
      this.#health.works();
    };
    const options = { resourceVersion, timeoutSeconds, signal: alarm.signal, onOpen };
    let isSilent = true;
    const isShort = (): boolean => performance.now() - openedAt < SHORTEST_WATCH_MS;
    try {
      for await (const event of api.watch(type, scope, options)) {
        if (this.#isClosed()) return;
        if (event.type === 'ERROR') throw event.error;
        onOpen();
        isSilent = false;
        this.#failures = 0;
        this.#take(event);
      }
    } finally {
      if (alarm.wasPostponed && !isShort()) this.#failures = 0;
    }
    if (performance.now() >= this.#relistAt) this.#version = undefined;
    if (!alarm.wasPostponed) throw new Error('no answer to a watch');
    if (isSilent && isShort() && !alarm.signal.aborted) throw new Error('a watch ended at once');
  }

  #alarm(timeoutSeconds: number): WatchAlarm {
    const { inactivityMs } = this.#times;
    const overdueMs = timeoutSeconds * SECOND + OVERDUE_MS;
    const deadlineMs = Math.max(0, Math.min(overdueMs, this.#relistAt - performance.now()));
    return new WatchAlarm(this.#closing.signal, { inactivityMs, deadlineMs });
  }

  #take({ type, object }: Exclude<WatchEvent, { type: 'ERROR' }>): void {
    if (type === 'DELETED') this.#cache.remove(object);
    else if (type !== 'BOOKMARK') this.#cache.put(object);
    this.#version = object.metadata.resourceVersion ?? this.#version;
  }

  async #recover(error: unknown): Promise<void> {
    this.#failures += 1;
    const code = error instanceof KubernetesApiError ? error.code : undefined;
    // Only what passes leaves the version good. It may be one that the server never had: restored
    // from a backup, it begins with an older one.
    if (code !== undefined && !isPassing(code)) this.#version = undefined;
    // Once in a while a watch ends like this, and all is well a moment later.
    if (this.#failures > 1) this.#health.failed(error);
    if (code === FORBIDDEN) this.#answered.resolve(undefined);
    await pause(monotonicClock, this.#delayMs(error), this.#closing.signal);
  }

  /** Doubling, and at random: reflectors that failed together do not come back in step. */
  #delayMs(error: unknown): number {
    const { shortestBackoffMs, longestBackoffMs } = this.#times;
    const longest = Math.min(shortestBackoffMs * 2 ** (this.#failures - 1), longestBackoffMs);
    const backoffMs = longest * (0.5 + Math.random() / 2);
    const asked = error instanceof KubernetesApiError ? (error.retryAfter ?? 0) : 0;
    return Math.max(backoffMs, Math.min(asked, LONGEST_RETRY_AFTER_SECONDS) * SECOND);
  }

  #tell(...[key, object, before]: Parameters<OnObjectChange<Parsed>>): void {
    try {
      this.#options.onChange(key, object, before);
    } catch (error) {
      const fields = { resource: this.#options.type.plural, key };
      this.#options.logger.error('kubernetes change not handled', fields, error);
    }
  }
}

/** Whether the very same request may be answered otherwise in a moment. */
function isPassing(code: number): boolean {
  return code === 429 || code === 500 || code === 502 || code === 503;
}
