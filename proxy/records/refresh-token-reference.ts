import type { TokenHash } from '../crypto/tokens.ts';

/** What a refresh token contains, and its hash. Tokens themselves are never stored. */
export interface RefreshTokenReference {
  /** Identifies the family: every token rotated from one grant has it. */
  readonly grantId: string;
  /** Number of tokens of the family that came before it. */
  readonly generation: number;
  readonly hash: TokenHash;
}
