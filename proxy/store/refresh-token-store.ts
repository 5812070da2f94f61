import type { RefreshTokenReference } from '../records/refresh-token-reference.ts';
import type { TokenHash } from '../crypto/tokens.ts';
import type { Sealed } from '../crypto/sealer.ts';

export type RefreshTokenState =
  /** It may be rotated. */
  | 'current'
  /** It was rotated a moment ago and the successor is unused: its rotation can be repeated. */
  | 'repeatable'
  /** It was rotated before that: its use is a replay. */
  | 'replayed';

export type RotationOutcome =
  /** The token was current; the successor is now. */
  | { readonly kind: 'rotated' }
  /** It was repeatable: answer with that successor. */
  | { readonly kind: 'repeated'; readonly sealedSuccessor: string }
  /** The family must be revoked (OAuth 2.1, 4.3). */
  | { readonly kind: 'replayed' };

/**
 * Families of refresh tokens: of each, which token is the current one.
 *
 * Whoever asks has made sure that what a token says of itself is true. So an older generation was
 * rotated, however long ago that was, and nothing need be remembered of it. A generation that the
 * family has not come to, or another token of the current one, is unknown: a store that lost what
 * it was last told accepts nothing for that.
 *
 * A family ends with its current token.
 */
export interface RefreshTokenStore {
  /** Starts a family. May be said again with another token as long as none was rotated. */
  save(token: RefreshTokenReference, ttlSeconds: number): Promise<void>;
  /** Null when unknown, expired or of a revoked family. */
  stateOf(token: RefreshTokenReference): Promise<RefreshTokenState | null>;
  /**
   * Puts the successor, of the next generation, in the token's place. Atomic: of any number of
   * concurrent calls with one token exactly one is `rotated`. The first use of a successor ends its
   * predecessor's grace. Null when unknown, expired or revoked.
   */
  rotate(token: RefreshTokenReference, rotation: Rotation): Promise<RotationOutcome | null>;
  /** Ends every token of the family, and those that a request under way is about to save. */
  revokeFamily(grantId: string): Promise<void>;
}

export interface Rotation {
  readonly successorHash: TokenHash;
  /** The successor, sealed so that only the predecessor's holder opens it; kept for the grace. */
  readonly sealedSuccessor: Sealed;
  /** 0: every repetition is a replay. */
  readonly graceSeconds: number;
  readonly ttlSeconds: number;
}
