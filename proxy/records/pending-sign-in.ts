import type { TokenHash } from '../crypto/tokens.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';

/** A sign-in under way at the identity provider. */
export interface PendingSignIn {
  /** Origin the user came from, and goes back to. */
  readonly targetOrigin: Origin;
  /** Path and query to restore, starting with `/`. */
  readonly returnPath: string;
  /** Hash of the target host's pre-login cookie. */
  readonly targetHash: TokenHash;
  /** Hash of the authenticate host's own pre-login cookie: the browser that went to the provider. */
  readonly authenticateHash: TokenHash;
  readonly provider: string;
  readonly nonce: string;
  /** PKCE verifier (RFC 7636). */
  readonly codeVerifier: string;
}
