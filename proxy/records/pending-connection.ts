import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';
import type { PendingAuthorization } from './pending-authorization.ts';
import type { TokenHash } from '../crypto/tokens.ts';
import type { UserReference } from './user-key.ts';

/** A connection that the user has not finished at the upstream's authorization server. */
export interface PendingConnection {
  /** Only this user may finish it. */
  readonly user: UserReference;
  /** The session in which it began, and in which alone it can be finished. */
  readonly sessionId: string;
  /** Hash of the cookie that binds it to that browser. */
  readonly browserHash: TokenHash;
  readonly routeName: string;
  readonly routeId: string;
  readonly binding: string;
  /** Of the authorization server; with given endpoints the token URL. The code is sent to no other. */
  readonly issuer: string;
  readonly clientId: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** PKCE verifier (RFC 7636). */
  readonly codeVerifier: string;
  readonly redirectUri: string;
  /** Whether a response without `iss` is refused (RFC 9207). */
  readonly requiresIss: boolean;
  readonly returnTo: ReturnTarget;
  /** The server forgot the registration with which the user began, so this is another try with a new one. */
  readonly isSecondTry?: true;
  /** The trace that the connection belongs to. Absent without tracing, and in records of earlier releases. */
  readonly trace?: TraceContext;
}

/** Where the user goes afterwards. */
export type ReturnTarget =
  /** To the URL that the application named. */
  | { readonly kind: 'redirect'; readonly url: string }
  /** Back to the authorization request of an MCP client. */
  | { readonly kind: 'authorization'; readonly pending: PendingAuthorization }
  /** To a page that says to go back to the application. */
  | { readonly kind: 'page' }
  /** To the user's own page. */
  | { readonly kind: 'account' };
