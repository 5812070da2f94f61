import type { TokenHash } from '../crypto/tokens.ts';
import type { Origin } from '../../shared/snapshot/origin.ts';
import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';

/** The session and the target for which a single-use sign-in code was issued. */
export interface SignInCode {
  readonly sessionId: string;
  readonly targetOrigin: Origin;
  readonly returnPath: string;
  readonly targetHash: TokenHash;
  /** See `PendingSignIn`. */
  readonly trace?: TraceContext;
}
