import type { Now } from '../../cache/expiring-map.ts';
import { SharedMap } from '../../cache/shared-map.ts';
import { StoreFullError } from './store-full-error.ts';

const MAX_IDS = 100_000;

/** Beyond this share of all ids, the rest is for owners that have few. */
const UNRESERVED = 0.5;

/** Ids that every owner has room for, until the store is full. */
const RESERVED_IDS = 100;

/** How many ids a refusal looks at for expired ones. */
const SWEPT_PER_REFUSAL = 100;

/**
 * Ids that must not be forgotten before they expire. Attack: one owner fills the store, and no id of others is
 * accepted. So a store that is half full refuses the ids of owners with many.
 */
export class KeptIds {
  readonly #ids: SharedMap<true>;
  readonly #maxIds: number;
  /** What the ids are, for errors. */
  readonly #what: string;

  constructor(now: Now, what: string, maxIds: number = MAX_IDS) {
    this.#what = what;
    this.#maxIds = maxIds;
    this.#ids = new SharedMap(now, maxIds);
  }

  has(id: string): boolean {
    return this.#ids.get(id) !== null;
  }

  /** Rejects with a `StoreFullError` if there is no room for an id of this owner. */
  keep(id: string, owner: string, ttlSeconds: number): Promise<void> {
    if (!this.#mayKeep(owner)) this.#ids.sweep(SWEPT_PER_REFUSAL);
    if (!this.#mayKeep(owner)) return Promise.reject(new StoreFullError(this.#what));
    this.#ids.set(id, true, { owner, size: 1, ttlSeconds });
    return Promise.resolve();
  }

  #mayKeep(owner: string): boolean {
    const { size } = this.#ids;
    if (size < this.#maxIds * UNRESERVED) return true;
    return size < this.#maxIds && this.#ids.sizeOf(owner) < RESERVED_IDS;
  }
}
