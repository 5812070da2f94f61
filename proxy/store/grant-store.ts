import type { Grant } from '../records/grant.ts';

/** Grants, until they are revoked or expire. */
export interface GrantStore {
  /** May be said again. Does nothing once the grant was revoked. */
  create(grant: Grant, ttlSeconds: number): Promise<void>;
  /** Null when unknown, expired or revoked. */
  get(id: string): Promise<Grant | null>;
  /** The grant lives at least another `ttlSeconds`. */
  extend(id: string, ttlSeconds: number): Promise<void>;
  revoke(id: string): Promise<void>;
}

/** Access tokens that were revoked one by one, until they would have expired. */
export interface RevokedTokenStore {
  revoke(tokenId: string, ttlSeconds: number): Promise<void>;
  isRevoked(tokenId: string): Promise<boolean>;
}
