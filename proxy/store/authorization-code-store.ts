import type { AuthorizationCode } from '../records/authorization-code.ts';
import type { TokenHash } from '../crypto/tokens.ts';

/** Outcome of consuming an authorization code. */
export type CodeConsumption =
  | { readonly kind: 'consumed'; readonly code: AuthorizationCode }
  /** It was consumed before: the tokens issued from it must be revoked (RFC 9700, 4.5). */
  | { readonly kind: 'reused'; readonly code: AuthorizationCode };

/** Authorization codes by hash. */
export interface AuthorizationCodeStore {
  save(hash: TokenHash, code: AuthorizationCode, ttlSeconds: number): Promise<void>;
  /** Reads a code, even a consumed one, without consuming it; null if unknown or expired. */
  peek(hash: TokenHash): Promise<AuthorizationCode | null>;
  /**
   * Atomic: of any number of concurrent calls with one hash exactly one gets `consumed`, the others
   * `reused`; null if unknown or expired. A consumed code is remembered for `memorySeconds`.
   */
  consume(hash: TokenHash, memorySeconds: number): Promise<CodeConsumption | null>;
}
