import type { Identity, Session, UserSession } from '../records/session.ts';

/** A kind of credential that a caller can present. Each has one authenticator. */
export type CredentialKind = 'external-token' | 'session-cookie' | 'bearer-token';

/** A user who signed in at the gateway, in a browser or for an MCP client. */
export interface SignedInCaller {
  readonly kind: 'user';
  readonly session: Session;
  readonly via: 'external-token' | 'session-cookie';
  /** Present on `mcp.client` routes: the external token for the backend. */
  readonly applicationToken?: string;
}

/** A user or a machine with a token of an identity provider: nobody signed in, and no store knows it. */
export interface TokenCaller {
  readonly kind: 'user';
  readonly session: UserSession;
  readonly via: 'bearer-token';
}

/** The user or anonymous client that makes a request, and the credential that identified the user. */
export type Caller = { readonly kind: 'anonymous' } | SignedInCaller | TokenCaller;

/** The caller of a route that authenticates nobody. */
export const ANONYMOUS: Caller = { kind: 'anonymous' };

/** Returns the identity of a caller that is known. */
export function identityOf(caller: Caller): Identity | undefined {
  return caller.kind === 'user' ? caller.session.identity : undefined;
}
