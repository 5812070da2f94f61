import type { TokenHash } from '../crypto/tokens.ts';

/** What a refresh token says of itself, and its hash. Tokens themselves are never stored. */
export interface RefreshTokenReference {
  /** The family: every token rotated from one grant has it. */
  readonly grantId: string;
  /** How many tokens of the family came before it. */
  readonly generation: number;
  readonly hash: TokenHash;
}
