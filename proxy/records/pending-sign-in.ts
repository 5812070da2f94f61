import type { TokenHash } from '../crypto/tokens.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';
import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';

/** A sign-in that the user has not finished at the identity provider. */
export interface PendingSignIn {
  /** Origin from which the user came, and to which the user returns. */
  readonly targetOrigin: Origin;
  /** Path and query to restore, starting with `/`. */
  readonly returnPath: string;
  /** Hash of the sign-in cookie at the target. */
  readonly targetHash: TokenHash;
  /** Hash of the sign-in cookie at the authenticate host, of the browser that went to the provider. */
  readonly authenticateHash: TokenHash;
  /**
   * Name and issuer of the provider. The authorization code is sent to no other one, and nowhere without
   * an issuer, as in records of releases that did not know it.
   */
  readonly provider: string;
  readonly issuer?: string;
  readonly nonce: string;
  /** PKCE verifier (RFC 7636). */
  readonly codeVerifier: string;
  /** The trace that the sign-in belongs to. Absent without tracing, and in records of earlier releases. */
  readonly trace?: TraceContext;
}
