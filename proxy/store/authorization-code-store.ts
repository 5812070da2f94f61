import type { TokenHash } from '../crypto/tokens.ts';

/** What an authorization code was issued for. */
export interface AuthorizationCode {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** The request named it, so the token request must too (RFC 6749, 4.1.3). */
  readonly redirectUriWasSent?: boolean;
  readonly codeChallenge: string;
  readonly sessionId: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** Id of the grant its redemption makes; known before, so that reuse can revoke it. */
  readonly grantId: string;
}

export type CodeConsumption =
  | { readonly kind: 'consumed'; readonly code: AuthorizationCode }
  /** It was consumed before: what was issued from it must be revoked (RFC 9700, 4.5). */
  | { readonly kind: 'reused'; readonly code: AuthorizationCode };

/** Authorization codes by hash. */
export interface AuthorizationCodeStore {
  save(hash: TokenHash, code: AuthorizationCode, ttlSeconds: number): Promise<void>;
  /** Looks without consuming; null when unknown or expired. Used ones are still found. */
  peek(hash: TokenHash): Promise<AuthorizationCode | null>;
  /**
   * Atomic: of any number of concurrent calls with one hash exactly one gets `consumed`, the others
   * `reused`; null when unknown or expired. Use is remembered for `memorySeconds`.
   */
  consume(hash: TokenHash, memorySeconds: number): Promise<CodeConsumption | null>;
}
