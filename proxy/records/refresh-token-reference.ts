import type { TokenHash } from '../crypto/tokens.ts';

/** The content of a refresh token, and its hash. Tokens themselves are never stored. */
export interface RefreshTokenReference {
  /** Identifies the family: all refresh tokens of one grant. */
  readonly grantId: string;
  /** Number of tokens of the family that came before it. */
  readonly generation: number;
  readonly hash: TokenHash;
}
