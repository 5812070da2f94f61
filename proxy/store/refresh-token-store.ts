import type { RefreshTokenReference } from '../records/refresh-token-reference.ts';
import type { TokenHash } from '../crypto/tokens.ts';
import type { Sealed } from '../crypto/sealer.ts';

/** State of a refresh token in its family. */
export type RefreshTokenState =
  /** The token may be rotated. */
  | 'current'
  /**
   * The token was rotated a moment ago, and its successor is unused: the rotation can be repeated.
   */
  | 'repeatable'
  /** The token was rotated before that: its use is a replay. */
  | 'replayed';

/** Outcome of rotating a refresh token. */
export type RotationOutcome =
  /** The token was current; now its successor is. */
  | { readonly kind: 'rotated' }
  /** The token was repeatable: the answer is this successor. */
  | { readonly kind: 'repeated'; readonly sealedSuccessor: string }
  /** The family must be revoked (OAuth 2.1, 4.3). */
  | { readonly kind: 'replayed' };

/**
 * Families of refresh tokens, each with its current token.
 *
 * Callers have verified the token, so its grant and generation are authentic. A token of an older
 * generation was therefore rotated, and the store need not remember it. A token of a later
 * generation, or a different token of the current one, is unknown: a store that lost its last write
 * does not accept one of them by mistake.
 *
 * A family ends when its current token expires.
 */
export interface RefreshTokenStore {
  /** Starts a family. May be repeated with a different token until one is rotated. */
  save(token: RefreshTokenReference, ttlSeconds: number): Promise<void>;
  /** Null if unknown, expired or of a revoked family. */
  stateOf(token: RefreshTokenReference): Promise<RefreshTokenState | null>;
  /**
   * Replaces the token by its successor, of the next generation. Atomic: of any number of
   * concurrent calls with one token exactly one is `rotated`. The first use of a successor ends the
   * grace of its predecessor. Null if unknown, expired or revoked.
   */
  rotate(token: RefreshTokenReference, rotation: Rotation): Promise<RotationOutcome | null>;
  /** Ends every token of the family, including one that a concurrent request is about to save. */
  revokeFamily(grantId: string): Promise<void>;
}

/** The successor of a refresh token, and the lifetimes of both. */
export interface Rotation {
  readonly successorHash: TokenHash;
  /**
   * The successor, sealed so that only the holder of the predecessor can open it; kept for the
   * grace.
   */
  readonly sealedSuccessor: Sealed;
  /** With 0, every repetition is a replay. */
  readonly graceSeconds: number;
  readonly ttlSeconds: number;
}
