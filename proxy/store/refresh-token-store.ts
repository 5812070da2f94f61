export type RotationOutcome =
  /** The token was current; the successor is now. */
  | { readonly kind: 'rotated' }
  /** It was rotated a moment ago and the successor is unused: answer with that successor. */
  | { readonly kind: 'repeated'; readonly sealedSuccessor: string }
  /** It was rotated before that: a replay. The family must be revoked (OAuth 2.1, 4.3). */
  | { readonly kind: 'replayed' };

export interface RefreshTokenRecord {
  /** The family: every token rotated from one grant has it. */
  readonly grantId: string;
}

/** Refresh tokens by hash. Tokens themselves are never stored. */
export interface RefreshTokenStore {
  /** Makes `hash` the current token of its grant. */
  save(hash: string, record: RefreshTokenRecord, ttlSeconds: number): Promise<void>;
  /** Null when unknown, expired or of a revoked family. Rotated ones are still found. */
  get(hash: string): Promise<RefreshTokenRecord | null>;
  /** Whether its rotation now would be a replay. False when unknown, expired or revoked. */
  isReplay(hash: string): Promise<boolean>;
  /**
   * Puts the successor in the token's place. Atomic: of any number of concurrent calls with one
   * hash exactly one is `rotated`. The first use of a successor ends its predecessor's grace. Null
   * when unknown, expired or revoked.
   */
  rotate(hash: string, rotation: Rotation): Promise<RotationOutcome | null>;
  /** Ends every token of the family. */
  revokeFamily(grantId: string): Promise<void>;
}

export interface Rotation {
  readonly successorHash: string;
  /** The successor, sealed so that only the predecessor's holder opens it; kept for the grace. */
  readonly sealedSuccessor: string;
  /** 0: every repetition is a replay. */
  readonly graceSeconds: number;
  readonly ttlSeconds: number;
}
