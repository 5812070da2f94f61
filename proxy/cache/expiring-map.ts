/** Milliseconds since the epoch. Tests pass a clock they can move. */
export type Now = () => number;

/** Far more entries than one process needs; a bound on memory, whatever strangers send. */
const MAX_ENTRIES = 100_000;

/** Above one, so that sweeping outpaces inserting and a map of expired entries shrinks. */
const SWEPT_PER_INSERT = 2;

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
  readonly #entries = new Map<string, Entry<Value>>();
  #sweep: MapIterator<[string, Entry<Value>]> = this.#entries.entries();

  constructor(now: Now, maxEntries: number = MAX_ENTRIES) {
    this.#now = now;
    this.#maxEntries = maxEntries;
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
    const oldest = this.#entries.keys().next();
    if (oldest.done !== true) this.#entries.delete(oldest.value);
  }
}
