import type { RevokedTokenStore } from '../grant-store.ts';
import { ExpiringMap, type Now } from '../../cache/expiring-map.ts';
import { StoreFullError } from './store-full-error.ts';

/** Revoked access tokens of one process. */
export class MemoryRevokedTokenStore implements RevokedTokenStore {
  readonly #revoked: ExpiringMap<true>;

  constructor(now: Now, maxEntries?: number) {
    this.#revoked = new ExpiringMap(now, maxEntries);
  }

  revoke(tokenId: string, ttlSeconds: number): Promise<void> {
    // To forget another revocation would bring its token back to life.
    if (!this.#revoked.hasRoom()) return Promise.reject(new StoreFullError('revoked tokens'));
    this.#revoked.set(tokenId, true, ttlSeconds);
    return Promise.resolve();
  }

  isRevoked(tokenId: string): Promise<boolean> {
    return Promise.resolve(this.#revoked.get(tokenId) !== null);
  }
}
