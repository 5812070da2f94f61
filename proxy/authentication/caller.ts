import type { Identity, Session } from '../records/session.ts';

/** A kind of credential that a caller can present. Each has one authenticator. */
export type CredentialKind = 'external-token' | 'session-cookie';

/** The user or anonymous client that makes a request, and the credential that identified the user. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'user'; readonly session: Session; readonly via: CredentialKind };

/** The caller of a route that authenticates nobody. */
export const ANONYMOUS: Caller = { kind: 'anonymous' };

/** Returns the identity of a signed-in caller. */
export function identityOf(caller: Caller): Identity | undefined {
  return caller.kind === 'user' ? caller.session.identity : undefined;
}
