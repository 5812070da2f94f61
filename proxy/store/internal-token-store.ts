import type { InternalToken, InternalTokenKey } from '../records/internal-token.ts';
import type { Renewals, Versioned } from './renewals.ts';

/** A token and its version. No version of a key is ever used again, not even after a new connection. */
export interface VersionedInternalToken extends Versioned {
  readonly token: InternalToken;
}

/** Internal tokens, each for as long as `secondsToKeep` says. */
export interface InternalTokenStore extends Renewals<InternalTokenKey, VersionedInternalToken> {
  /** Null if unknown, expired or dropped. */
  get(key: InternalTokenKey): Promise<VersionedInternalToken | null>;
  /** Keeps the token of a new connection in place of any other one. Ends a claim to renew that one. */
  save(key: InternalTokenKey, token: InternalToken): Promise<void>;
  /**
   * Replaces `version` of the token, and begins its lifetime anew. Returns the new version; null, without a
   * change, if the version has changed or the token is gone. The claim stays the same.
   */
  update(key: InternalTokenKey, token: InternalToken, version: number): Promise<number | null>;
  /** Drops the token, or only this version of it, and the claim. Returns whether there was one to drop. */
  drop(key: InternalTokenKey, version?: number): Promise<boolean>;
}
