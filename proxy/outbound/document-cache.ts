import { SingleFlight } from '../cache/single-flight.ts';

const SECOND = 1000;

/** How long to wait before a document that could not be loaded is tried again. */
const RETRY_SECONDS = 60;

/** A loaded document. */
export interface LoadedDocument<Value> {
  readonly value: Value;
  /** How long it may be reused; 0 if it must not be cached. */
  readonly freshSeconds: number;
}

/** Options of a `DocumentCache`. */
export interface DocumentCacheSettings {
  readonly maxEntries: number;
  /** How old a document may become while no newer one can be loaded. */
  readonly maxStaleSeconds: number;
  /** Returns whether an error means that the server is down. Unexpected responses are not outages. */
  readonly isOutage: (error: unknown) => boolean;
  readonly now: () => number;
}

/** Options of one call of a `DocumentCache`. */
interface DocumentCacheCall {
  readonly maxAgeSeconds?: number;
  readonly beforeLoad?: (() => Promise<void>) | undefined;
}

interface Entry<Value> {
  readonly value: Value;
  readonly loadedAt: number;
  readonly freshUntil: number;
}

/**
 * A cache of documents fetched from outside, by URL.
 *
 * Concurrent calls for one URL share one load. Failures are never cached; during an outage of its server
 * the last good document stays usable for a while. The least recently used documents are evicted first.
 */
export class DocumentCache<Value> {
  readonly #settings: DocumentCacheSettings;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #loading = new SingleFlight<Value>();

  constructor(settings: DocumentCacheSettings) {
    this.#settings = settings;
  }

  /**
   * With `maxAgeSeconds`, an older document is loaded again even if it is fresh. `beforeLoad` is called
   * before this call begins a load; its error counts like that of a load, but for this call only.
   */
  async get(
    url: string,
    load: () => Promise<LoadedDocument<Value>>,
    { maxAgeSeconds = Infinity, beforeLoad }: DocumentCacheCall = {},
  ): Promise<Value> {
    const entry = this.#entries.get(url);
    const now = this.#settings.now();
    if (entry && now < entry.freshUntil && now - entry.loadedAt < maxAgeSeconds * SECOND) {
      this.#keep(url, entry);
      return entry.value;
    }
    if (beforeLoad !== undefined && !this.#loading.has(url)) {
      try {
        await beforeLoad();
      } catch (error) {
        const lastGood = this.#lastGood(url, error);
        if (lastGood === undefined) throw error;
        return lastGood.value;
      }
    }
    return await this.#loading.run(url, () => this.#load(url, load));
  }

  async #load(url: string, load: () => Promise<LoadedDocument<Value>>): Promise<Value> {
    try {
      const { value, freshSeconds } = await load();
      const loadedAt = this.#settings.now();
      this.#entries.delete(url);
      if (freshSeconds > 0) {
        this.#keep(url, { value, loadedAt, freshUntil: loadedAt + freshSeconds * SECOND });
      }
      return value;
    } catch (error) {
      const lastGood = this.#lastGood(url, error);
      if (lastGood !== undefined) return lastGood.value;
      this.#entries.delete(url);
      throw error;
    }
  }

  /** Returns the last good document if the only problem is that its server is down. */
  #lastGood(url: string, error: unknown): Entry<Value> | undefined {
    const entry = this.#entries.get(url);
    const { isOutage, maxStaleSeconds, now } = this.#settings;
    const isUsable = entry && isOutage(error) && now() - entry.loadedAt < maxStaleSeconds * SECOND;
    if (!isUsable) return undefined;
    this.#keep(url, { ...entry, freshUntil: now() + RETRY_SECONDS * SECOND });
    return entry;
  }

  #keep(url: string, entry: Entry<Value>): void {
    this.#entries.delete(url);
    this.#entries.set(url, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#settings.maxEntries && oldest !== undefined) {
      this.#entries.delete(oldest);
    }
  }
}
