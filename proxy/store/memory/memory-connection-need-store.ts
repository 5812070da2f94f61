import type { ConnectionNeed } from '../../records/connection-need.ts';
import { internalTokenId, type InternalTokenKey } from '../../records/internal-token.ts';
import { userKey } from '../../records/user-key.ts';
import type { ConnectionNeedStore } from '../connection-need-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import { SharedMap } from '../../cache/shared-map.ts';
import { sizeInMemory } from '../../cache/size-in-memory.ts';

const MAX_BYTES = 16 * 1024 * 1024;

/** Who must connect again, in one process. When they are too many, the user with most loses the oldest. */
export class MemoryConnectionNeedStore implements ConnectionNeedStore {
  readonly #needs: SharedMap<ConnectionNeed>;
  readonly #stepUps: ExpiringMap<true>;

  constructor(now: Now, maxBytes: number = MAX_BYTES) {
    this.#needs = new SharedMap(now, maxBytes);
    this.#stepUps = new ExpiringMap(now);
  }

  get(key: InternalTokenKey): Promise<ConnectionNeed | null> {
    return Promise.resolve(this.#needs.get(internalTokenId(key)));
  }

  put(key: InternalTokenKey, need: ConnectionNeed, ttlSeconds: number): Promise<void> {
    const terms = { owner: userKey(key.user), size: sizeInMemory(need), ttlSeconds };
    this.#needs.set(internalTokenId(key), need, terms);
    return Promise.resolve();
  }

  delete(key: InternalTokenKey): Promise<void> {
    this.#needs.delete(internalTokenId(key));
    return Promise.resolve();
  }

  claimStepUp(key: InternalTokenKey, windowSeconds: number): Promise<boolean> {
    const id = internalTokenId(key);
    if (this.#stepUps.get(id) !== null) return Promise.resolve(false);
    this.#stepUps.set(id, true, windowSeconds);
    return Promise.resolve(true);
  }
}
