import type { Grant } from '../records/grant.ts';

/** Grants, until they are revoked or expire. */
export interface GrantStore {
  /** May be repeated. Does nothing if the grant was revoked. */
  create(grant: Grant, ttlSeconds: number): Promise<void>;
  /** Null if unknown, expired or revoked. */
  get(id: string): Promise<Grant | null>;
  /** Notes a use, and extends the grant's lifetime to at least `ttlSeconds` from now. */
  use(id: string, usedAt: number, ttlSeconds: number): Promise<void>;
  revoke(id: string): Promise<void>;
}

/**
 * Ids of external tokens that were revoked one by one, until they would have expired. None is forgotten early:
 * a store in memory that is full refuses more, and first those of grants with many.
 */
export interface RevokedTokenStore {
  /** Throws `StoreFullError` if there is no room for a token of this grant. */
  revoke(tokenId: string, ttlSeconds: number, grantId: string): Promise<void>;
  isRevoked(tokenId: string): Promise<boolean>;
}
