import { acceptedCredentials } from '../authentication/accepted-credentials.ts';
import type {
  AuthenticationContext,
  Authenticator,
  Authenticators,
} from '../authentication/authenticator.ts';
import type { CredentialKind } from '../authentication/caller.ts';
import type { GatewayRoute } from '../configuration/routing-table.ts';
import { SignInFailedError, TokenRequiredError } from '../errors/authentication-errors.ts';
import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { identityFromClaims } from '../identity-provider/identity-from-claims.ts';
import { requireIdentityProvider } from '../identity-provider/require-identity-provider.ts';
import type { Identity } from '../records/session.ts';
import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';

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
      const identity = identityOf(user, providerOf(user, route, context));
      const ids = { id: 'explained', signInId: 'explained' };
      const session = { ...ids, identity, createdAt: 0, expiresAt: Infinity };
      return { kind: 'user', session, via };
    },
  });
  // Every kind is one of the keys.
  return Object.fromEntries(kinds.map((via) => [via, authenticatorFor(via)])) as Authenticators;
}

/**
 * Returns the provider of the user: that of the route, or with `jwt` the one that `iss` names, which may be
 * left out if there is only one.
 */
function providerOf(
  { claims }: GivenUser,
  { compiled }: GatewayRoute,
  { configuration }: AuthenticationContext,
): CompiledIdentityProvider {
  const { identityProviders } = configuration;
  const accepted = acceptedCredentials(compiled, configuration);
  if (accepted.kind !== 'bearer-token' || accepted.use.format !== 'jwt') {
    const { identityProvider: name } = compiled;
    return identityProviders.ofRoute(compiled) ?? requireIdentityProvider(name, identityProviders);
  }
  const { iss } = claims;
  const trusted = identityProviders.all().filter(({ audiences }) => audiences !== undefined);
  const named = trusted.filter(({ issuer }) => iss === undefined || issuer === iss);
  const [provider, another] = named;
  if (provider !== undefined && another === undefined) return provider;
  throw new TokenRequiredError('unknown-issuer', { tokenWasSent: true });
}

function identityOf({ claims, groups }: GivenUser, provider: CompiledIdentityProvider): Identity {
  const claimed = identityFromClaims(provider, claims, {}, groups);
  if (claimed.kind === 'identity') return claimed.identity;
  const { reason } = claimed;
  throw new SignInFailedError(reason, 'nobody can sign in with these claims', { status: 403 });
}
