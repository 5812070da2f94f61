import type { ReplayStore } from '../rate-limit-store.ts';
import type { Now } from '../../cache/expiring-map.ts';
import { KeptIds } from './kept-ids.ts';

/** Used ids of one process. */
export class MemoryReplayStore implements ReplayStore {
  readonly #claimed: KeptIds;

  constructor(now: Now, maxIds?: number) {
    this.#claimed = new KeptIds(now, 'used ids', maxIds);
  }

  claim(owner: string, id: string, ttlSeconds: number): Promise<boolean> {
    const key = JSON.stringify([owner, id]);
    if (this.#claimed.has(key)) return Promise.resolve(false);
    return this.#claimed.keep(key, owner, ttlSeconds).then(() => true);
  }
}
