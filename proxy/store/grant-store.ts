/** A user's approval for one client to use one route; what its tokens stand for. */
export interface Grant {
  readonly id: string;
  /** Route origin it was made at; elsewhere it is unknown. */
  readonly issuer: string;
  readonly clientId: string;
  /** The sign-in it was approved in: its tokens stand on the sessions of that. */
  readonly signInId: string;
  /** Canonical resource identifier of the route: the audience of its access tokens. */
  readonly resource: string;
  /** As requested, in the client's order; labels without power of their own. */
  readonly scopes: readonly string[];
}

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
