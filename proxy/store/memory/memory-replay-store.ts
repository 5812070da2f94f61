import type { ReplayStore } from '../rate-limit-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import { StoreFullError } from './store-full-error.ts';

/** Used ids of one process. */
export class MemoryReplayStore implements ReplayStore {
  readonly #claimed: ExpiringMap<true>;

  constructor(now: Now, maxEntries?: number) {
    this.#claimed = new ExpiringMap(now, maxEntries);
  }

  claim(id: string, ttlSeconds: number): Promise<boolean> {
    if (this.#claimed.get(id) !== null) return Promise.resolve(false);
    // Dropping a different id would allow its replay.
    if (!this.#claimed.hasRoom()) return Promise.reject(new StoreFullError('used ids'));
    this.#claimed.set(id, true, ttlSeconds);
    return Promise.resolve(true);
  }
}
