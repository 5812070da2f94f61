import type { Now } from './expiring-map.ts';

/** Above one, so that sweeping outpaces inserting and a map of expired entries shrinks. */
const SWEPT_PER_INSERT = 2;

interface Entry<Value> {
  readonly value: Value;
  readonly owner: string;
  readonly size: number;
  readonly expiresAt: number;
}

/** What one owner holds. */
interface Share {
  size: number;
  /** Oldest first. */
  readonly keys: Set<string>;
}

/** Who caused an entry, how much room it takes, and how long it lives. */
export interface EntryTerms {
  readonly owner: string;
  readonly size: number;
  readonly ttlSeconds: number;
}

/**
 * A map with a maximum size that strangers share. An expired entry is never returned.
 *
 * Attack: one party fills the map until the entries of others are gone. So a full map evicts the oldest entry
 * of whoever inserts, if that owner holds more than an equal share, and otherwise of whoever holds the most.
 */
export class SharedMap<Value> {
  readonly #now: Now;
  readonly #maxSize: number;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #shares = new Map<string, Share>();
  #size = 0;
  #sweep: MapIterator<[string, Entry<Value>]> = this.#entries.entries();

  constructor(now: Now, maxSize: number) {
    this.#now = now;
    this.#maxSize = maxSize;
  }

  /** Sum of the sizes, including those of expired entries that were not swept yet. */
  get size(): number {
    return this.#size;
  }

  /** Sum of the sizes of one owner's entries. */
  sizeOf(owner: string): number {
    return this.#shares.get(owner)?.size ?? 0;
  }

  /** Null when absent or expired. */
  get(key: string): Value | null {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAt > this.#now()) return entry?.value ?? null;
    this.#remove(key, entry);
    return null;
  }

  /** How long an entry lives on; 0 when absent or expired. */
  remainingSeconds(key: string): number {
    const { expiresAt = 0 } = this.#entries.get(key) ?? {};
    return Math.max(0, (expiresAt - this.#now()) / 1000);
  }

  /** Replaces value, owner and expiry. */
  set(key: string, value: Value, { owner, size, ttlSeconds }: EntryTerms): void {
    this.delete(key);
    this.sweep(SWEPT_PER_INSERT);
    while (this.#size + size > this.#maxSize && this.#entries.size > 0) this.#evict(owner);
    this.#entries.set(key, { value, owner, size, expiresAt: this.#now() + ttlSeconds * 1000 });
    const share = this.#shares.get(owner) ?? { size: 0, keys: new Set() };
    share.size += size;
    share.keys.add(key);
    this.#shares.set(owner, share);
    this.#size += size;
  }

  /** Removes and returns; null when absent or expired. */
  consume(key: string): Value | null {
    const value = this.get(key);
    this.delete(key);
    return value;
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(key, entry);
  }

  /** Removes the expired ones of the next `count` entries, in turn. */
  sweep(count: number): void {
    const now = this.#now();
    for (let swept = 0; swept < count; swept += 1) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#entries.entries();
        return;
      }
      const [key, entry] = next.value;
      if (entry.expiresAt <= now) this.#remove(key, entry);
    }
  }

  #evict(owner: string): void {
    const equalShare = this.#maxSize / Math.max(1, this.#shares.size);
    const own = this.#shares.get(owner);
    const share = own !== undefined && own.size > equalShare ? own : this.#largestShare();
    const [oldest] = share?.keys ?? [];
    if (oldest !== undefined) this.delete(oldest);
  }

  #largestShare(): Share | undefined {
    let largest: Share | undefined;
    for (const share of this.#shares.values()) {
      if (largest === undefined || share.size > largest.size) largest = share;
    }
    return largest;
  }

  #remove(key: string, { owner, size }: Entry<Value>): void {
    this.#entries.delete(key);
    this.#size -= size;
    const share = this.#shares.get(owner);
    if (share === undefined) return;
    share.size -= size;
    share.keys.delete(key);
    if (share.keys.size === 0) this.#shares.delete(owner);
  }
}
