import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';

/** The request and the session for which an authorization code was issued. */
export interface AuthorizationCode {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** Whether the request had a redirect URI: then the token request needs it too (RFC 6749, 4.1.3). */
  readonly redirectUriWasSent?: boolean;
  readonly codeChallenge: string;
  readonly sessionId: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** Id of the grant that its redemption creates. Chosen in advance, so that reuse can revoke the grant. */
  readonly grantId: string;
  /** See `PendingAuthorization`. */
  readonly trace?: TraceContext;
}
