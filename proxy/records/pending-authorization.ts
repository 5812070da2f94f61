import type { Origin } from '../../shared/snapshot/origin.ts';
import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';

/** A valid authorization request that waits for the user. */
export interface PendingAuthorization {
  readonly issuer: Origin;
  readonly clientId: string;
  readonly redirectUri: string;
  /** Whether the request had a redirect URI: then the token request needs it too (RFC 6749, 4.1.3). */
  readonly redirectUriWasSent?: boolean;
  /** Canonical resource identifier of the route (RFC 8707). */
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly codeChallenge: string;
  readonly state?: string;
  /** The client wants the consent page even if a consent is remembered (`prompt=consent`). */
  readonly askAgain: boolean;
  /** The user must not be asked anything: an error is the answer instead (`prompt=none`). */
  readonly isSilent?: boolean;
  /** Id of the grant that the user approved. Present while they connect the server behind the route. */
  readonly approvedGrantId?: string;
  /** The trace that the request belongs to. Absent without tracing, and in records of earlier releases. */
  readonly trace?: TraceContext;
}
