import type { Grant } from '../records/grant.ts';

/** Grants, until they are revoked or expire. */
export interface GrantStore {
  /** May be repeated. Does nothing if the grant was revoked. */
  create(grant: Grant, ttlSeconds: number): Promise<void>;
  /** Null if unknown, expired or revoked. */
  get(id: string): Promise<Grant | null>;
  /** Extends the grant's lifetime to at least `ttlSeconds` from now. */
  extend(id: string, ttlSeconds: number): Promise<void>;
  revoke(id: string): Promise<void>;
}

/** Ids of external tokens that were revoked one by one, until they would have expired. */
export interface RevokedTokenStore {
  revoke(tokenId: string, ttlSeconds: number): Promise<void>;
  isRevoked(tokenId: string): Promise<boolean>;
}
