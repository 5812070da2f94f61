import type { Authenticator, Authenticators } from '../authentication/authenticator.ts';
import type { CredentialKind } from '../authentication/caller.ts';
import { SignInFailedError } from '../errors/authentication-errors.ts';
import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { identityFromClaims } from '../identity-provider/identity-from-claims.ts';
import type { Identity } from '../records/session.ts';
import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { providerOfUser } from './provider-of-user.ts';

/** A user as the identity provider describes one. */
export interface GivenUser {
  readonly claims: SourceClaims & { readonly sub: string };
  /** Undefined if the claims say it. */
  readonly groups: readonly string[] | undefined;
}

/**
 * Makes authenticators for which every request is one of this user, whatever credential it has. They throw
 * a `GatewayError` if the gateway could make no identity of the claims.
 */
export function claimedAuthenticators(
  kinds: readonly CredentialKind[],
  user: GivenUser,
): Authenticators {
  const authenticatorFor = (via: CredentialKind): Authenticator => ({
    authenticate(_request, route, context) {
      const provider = providerOfUser(user.claims, route.compiled, context.configuration);
      const identity = identityOf(user, provider);
      const ids = { id: 'explained', signInId: 'explained' };
      const session = { ...ids, identity, createdAt: 0, expiresAt: Infinity };
      return { kind: 'user', session, via };
    },
  });
  // Every kind is one of the keys.
  return Object.fromEntries(kinds.map((via) => [via, authenticatorFor(via)])) as Authenticators;
}

function identityOf({ claims, groups }: GivenUser, provider: CompiledIdentityProvider): Identity {
  const claimed = identityFromClaims(provider, claims, {}, groups);
  if (claimed.kind === 'identity') return claimed.identity;
  const { reason } = claimed;
  throw new SignInFailedError(reason, 'nobody can sign in with these claims', { status: 403 });
}
