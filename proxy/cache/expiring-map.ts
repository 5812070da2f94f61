/** Milliseconds since the epoch. Tests pass a clock they can move. */
export type Now = () => number;

/** Far more entries than one process needs; a bound on memory, whatever strangers send. */
const MAX_ENTRIES = 100_000;

/** Above one, so that sweeping outpaces inserting and a map of expired entries shrinks. */
const SWEPT_PER_INSERT = 2;

const MIN_SCAN_INTERVAL_MS = 1000;

interface Entry<Value> {
  readonly value: Value;
  readonly expiresAt: number;
}

/**
 * A map of bounded size with entries that expire.
 *
 * An expired entry is never returned. Each insertion sweeps a few entries, so no single insertion is
 * slow; past the bound the oldest entry is evicted.
 */
export class ExpiringMap<Value> {
  readonly #now: Now;
  readonly #maxEntries: number;
  readonly #onEvicted: (value: Value) => void;
  readonly #entries = new Map<string, Entry<Value>>();
  #sweep: MapIterator<[string, Entry<Value>]> = this.#entries.entries();

  /** A full map has no room until this time: no entry expires earlier, or it was scanned a moment ago. */
  #fullUntil = 0;

  /** `onEvicted` is called for evicted entries, not for entries that expired or were removed. */
  constructor(
    now: Now,
    maxEntries: number = MAX_ENTRIES,
    onEvicted: (value: Value) => void = () => undefined,
  ) {
    this.#now = now;
    this.#maxEntries = maxEntries;
    this.#onEvicted = onEvicted;
  }

  /** Number of entries, including expired ones that were not swept yet. */
  get size(): number {
    return this.#entries.size;
  }

  /** Null when absent or expired. */
  get(key: string): Value | null {
    return this.#live(key)?.value ?? null;
  }

  /** Replaces value and expiry. */
  set(key: string, value: Value, ttlSeconds: number): void {
    this.setUntil(key, value, this.#now() + ttlSeconds * 1000);
  }

  setUntil(key: string, value: Value, expiresAt: number): void {
    // Removed first: replacing makes the entry the youngest, and the oldest one is evicted.
    this.#entries.delete(key);
    this.#sweepSome();
    if (this.#entries.size >= this.#maxEntries) this.#evictOldest();
    this.#entries.set(key, { value, expiresAt });
  }

  /** Replaces the value and keeps the expiry; does nothing if absent or expired. */
  replace(key: string, value: Value): void {
    const entry = this.#live(key);
    if (entry !== undefined) this.#entries.set(key, { ...entry, value });
  }

  /** Moves the expiry to `ttlSeconds` from now if that is later; an absent entry stays absent. */
  extend(key: string, ttlSeconds: number): void {
    const entry = this.#live(key);
    if (entry === undefined) return;
    const expiresAt = Math.max(entry.expiresAt, this.#now() + ttlSeconds * 1000);
    this.setUntil(key, entry.value, expiresAt);
  }

  /** Removes and returns; null when absent or expired. */
  consume(key: string): Value | null {
    const value = this.get(key);
    this.#entries.delete(key);
    return value;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) {
      if (matches(value)) this.#entries.delete(key);
    }
  }

  /**
   * Returns whether an insertion now would evict no live entry.
   *
   * A full map is scanned at most once a second, so that refusing stays cheap: for that long it may return
   * false although an entry has expired.
   */
  hasRoom(): boolean {
    if (this.#entries.size < this.#maxEntries) return true;
    const now = this.#now();
    if (now < this.#fullUntil) return false;
    let earliest = Infinity;
    for (const [key, { expiresAt }] of this.#entries) {
      if (expiresAt <= now) this.#entries.delete(key);
      else earliest = Math.min(earliest, expiresAt);
    }
    const hasRoom = this.#entries.size < this.#maxEntries;
    const nextScan = now + MIN_SCAN_INTERVAL_MS;
    this.#fullUntil = hasRoom ? nextScan : Math.max(earliest, nextScan);
    return hasRoom;
  }

  #live(key: string): Entry<Value> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAt > this.#now()) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  #sweepSome(): void {
    const now = this.#now();
    for (let swept = 0; swept < SWEPT_PER_INSERT; swept += 1) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#entries.entries();
        return;
      }
      const [key, { expiresAt }] = next.value;
      if (expiresAt <= now) this.#entries.delete(key);
    }
  }

  #evictOldest(): void {
    const oldest = this.#entries.entries().next();
    if (oldest.done === true) return;
    const [key, { value }] = oldest.value;
    this.#entries.delete(key);
    this.#onEvicted(value);
  }
}
