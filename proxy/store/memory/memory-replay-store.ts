import type { ReplayStore } from '../rate-limit-store.ts';
import type { Now } from '../../cache/expiring-map.ts';
import { SharedMap } from '../../cache/shared-map.ts';
import { StoreFullError } from './store-full-error.ts';

const MAX_IDS = 100_000;

/** Beyond this many in all, ids are kept for owners that have used few. */
const UNRESERVED = 0.5;

/** Used ids that every owner has room for, until the store is full. */
const RESERVED_IDS = 100;

/** How many ids a refusal looks at for expired ones. */
const SWEPT_PER_REFUSAL = 100;

/** Used ids of one process. */
export class MemoryReplayStore implements ReplayStore {
  readonly #claimed: SharedMap<true>;
  readonly #maxIds: number;

  constructor(now: Now, maxIds: number = MAX_IDS) {
    this.#maxIds = maxIds;
    this.#claimed = new SharedMap(now, maxIds);
  }

  claim(owner: string, id: string, ttlSeconds: number): Promise<boolean> {
    const key = JSON.stringify([owner, id]);
    if (this.#claimed.get(key) !== null) return Promise.resolve(false);
    // Dropping a different id would allow its replay.
    if (!this.#hasRoomFor(owner)) return Promise.reject(new StoreFullError('used ids'));
    this.#claimed.set(key, true, { owner, size: 1, ttlSeconds });
    return Promise.resolve(true);
  }

  /** Attack: a few clients fill the store, and no other client can authenticate. */
  #hasRoomFor(owner: string): boolean {
    if (this.#mayClaim(owner)) return true;
    this.#claimed.sweep(SWEPT_PER_REFUSAL);
    return this.#mayClaim(owner);
  }

  #mayClaim(owner: string): boolean {
    const { size } = this.#claimed;
    if (size < this.#maxIds * UNRESERVED) return true;
    return size < this.#maxIds && this.#claimed.sizeOf(owner) < RESERVED_IDS;
  }
}
