const SECOND = 1000;

/** How soon a document that cannot be had again is tried again. */
const RETRY_SECONDS = 60;

/** A document as it was loaded. */
export interface LoadedDocument<Value> {
  readonly value: Value;
  /** How long it may be reused; 0 when it must not be kept. */
  readonly freshSeconds: number;
}

export interface DocumentCacheSettings {
  readonly maxEntries: number;
  /** How old a document may grow while no newer one can be had. */
  readonly maxStaleSeconds: number;
  /** Tells a server that is down from one that answers something else. */
  readonly isOutage: (error: unknown) => boolean;
  readonly now: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly loadedAt: number;
  readonly freshUntil: number;
}

/**
 * Documents fetched from outside, by URL.
 *
 * Of any number of concurrent calls for one URL, one loads. Failures are never kept; during an
 * outage of its server the last good document goes on for a while. The least recently used go first.
 */
export class DocumentCache<Value> {
  readonly #settings: DocumentCacheSettings;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #loading = new Map<string, Promise<Value>>();

  constructor(settings: DocumentCacheSettings) {
    this.#settings = settings;
  }

  /** With `maxAgeSeconds`, a document loaded longer ago is loaded anew though it is fresh. */
  async get(
    url: string,
    load: () => Promise<LoadedDocument<Value>>,
    { maxAgeSeconds = Infinity }: { maxAgeSeconds?: number } = {},
  ): Promise<Value> {
    const entry = this.#entries.get(url);
    const now = this.#settings.now();
    if (entry && now < entry.freshUntil && now - entry.loadedAt < maxAgeSeconds * SECOND) {
      this.#keep(url, entry);
      return entry.value;
    }
    return await this.#loadOnce(url, load);
  }

  #loadOnce(url: string, load: () => Promise<LoadedDocument<Value>>): Promise<Value> {
    const running = this.#loading.get(url);
    if (running) return running;
    const loading = this.#load(url, load).finally(() => this.#loading.delete(url));
    this.#loading.set(url, loading);
    return loading;
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
      return this.#lastGood(url, error);
    }
  }

  /** The last good document, when all that is wrong is that its server is down. */
  #lastGood(url: string, error: unknown): Value {
    const entry = this.#entries.get(url);
    const { isOutage, maxStaleSeconds, now } = this.#settings;
    const isUsable = entry && isOutage(error) && now() - entry.loadedAt < maxStaleSeconds * SECOND;
    if (!isUsable) {
      this.#entries.delete(url);
      throw error;
    }
    this.#keep(url, { ...entry, freshUntil: now() + RETRY_SECONDS * SECOND });
    return entry.value;
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
