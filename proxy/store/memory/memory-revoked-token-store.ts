import type { RevokedTokenStore } from '../grant-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import { StoreFullError } from './store-full-error.ts';

/** Revoked external tokens of one process. */
export class MemoryRevokedTokenStore implements RevokedTokenStore {
  readonly #revoked: ExpiringMap<true>;

  constructor(now: Now, maxEntries?: number) {
    this.#revoked = new ExpiringMap(now, maxEntries);
  }

  revoke(tokenId: string, ttlSeconds: number): Promise<void> {
    // Dropping a different revocation would make its token valid again.
    if (!this.#revoked.hasRoom()) return Promise.reject(new StoreFullError('revoked tokens'));
    this.#revoked.set(tokenId, true, ttlSeconds);
    return Promise.resolve();
  }

  isRevoked(tokenId: string): Promise<boolean> {
    return Promise.resolve(this.#revoked.get(tokenId) !== null);
  }
}
