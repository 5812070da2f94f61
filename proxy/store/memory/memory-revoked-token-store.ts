import type { RevokedTokenStore } from '../grant-store.ts';
import type { Now } from '../../cache/expiring-map.ts';
import { KeptIds } from './kept-ids.ts';

/** Revoked external tokens of one process. */
export class MemoryRevokedTokenStore implements RevokedTokenStore {
  readonly #revoked: KeptIds;

  constructor(now: Now, maxEntries?: number) {
    this.#revoked = new KeptIds(now, 'revoked tokens', maxEntries);
  }

  revoke(tokenId: string, ttlSeconds: number, grantId: string): Promise<void> {
    return this.#revoked.keep(tokenId, grantId, ttlSeconds);
  }

  isRevoked(tokenId: string): Promise<boolean> {
    return Promise.resolve(this.#revoked.has(tokenId));
  }
}
