import type { TokenHash } from '../crypto/tokens.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/** A sign-in under way at the identity provider. */
export interface PendingSignIn {
  /** Origin that the user came from, and returns to. */
  readonly targetOrigin: Origin;
  /** Path and query to restore, starting with `/`. */
  readonly returnPath: string;
  /** Hash of the sign-in cookie at the target. */
  readonly targetHash: TokenHash;
  /** Hash of the sign-in cookie at the authenticate host, of the browser that went to the provider. */
  readonly authenticateHash: TokenHash;
  readonly provider: string;
  readonly nonce: string;
  /** PKCE verifier (RFC 7636). */
  readonly codeVerifier: string;
}
