import { acceptedCredentials } from '../authentication/accepted-credentials.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { TokenRequiredError } from '../errors/authentication-errors.ts';
import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import {
  isSignInProvider,
  requireIdentityProvider,
} from '../identity-provider/require-identity-provider.ts';
import { CLUSTER_ISSUER_URL } from '../../shared/snapshot/cluster-issuer-url.ts';
import type { CompiledIdentityProvider, CompiledRoute } from '../../shared/snapshot/snapshot.ts';

/** The identity provider of a user who is given without a credential. */
export interface ProviderOfUser {
  readonly provider: CompiledIdentityProvider;
  /** Whether whatever identifies its users on this route says who issued it. */
  readonly alwaysHasIssuer: boolean;
}

type Providers = Pick<Configuration, 'settings' | 'identityProviders'>;

/** The route has users of several providers, and the claims of this user do not say of which one they are. */
export class SeveralProvidersError extends Error {
  override readonly name = 'SeveralProvidersError';

  constructor(providers: readonly CompiledIdentityProvider[]) {
    const each = providers.map(({ name, issuer }) => `${name} (${issuer})`);
    super(`the users of the route are those of ${each.join(', ')}: say which by the claim "iss"`);
  }
}

/**
 * Returns the provider of a user: that of the route, or with `jwt` the one that `iss` names. Throws a
 * `SeveralProvidersError` if there are several and `iss` is absent, and a `GatewayError` if there is none.
 */
export function providerOfUser(
  claims: SourceClaims,
  route: CompiledRoute,
  configuration: Providers,
): ProviderOfUser {
  const { identityProviders } = configuration;
  const accepted = acceptedCredentials(route, configuration);
  const format = accepted.kind === 'bearer-token' ? accepted.use.format : 'default';
  if (format === 'jwt') return providerOfIssuer(claims['iss'], usersOf(route, identityProviders));
  const provider =
    identityProviders.ofRoute(route) ??
    requireIdentityProvider(route.identityProvider, identityProviders);
  // Introspection and userinfo need not say it, nor does GitHub.
  const alwaysHasIssuer = format !== 'idp_access_token' && provider.type !== 'github';
  return { provider, alwaysHasIssuer };
}

/** Returns the providers whose tokens a route with `jwt` accepts, and of an MCP route that of its people. */
function usersOf(
  route: CompiledRoute,
  identityProviders: Configuration['identityProviders'],
): readonly CompiledIdentityProvider[] {
  const ofPeople = route.mcpServer && identityProviders.ofRoute(route);
  return identityProviders
    .all()
    .filter(
      (provider) =>
        provider.audiences !== undefined || (provider === ofPeople && isSignInProvider(provider)),
    );
}

function providerOfIssuer(
  issuer: unknown,
  providers: readonly CompiledIdentityProvider[],
): ProviderOfUser {
  const [first, ...others] = providers;
  if (issuer === undefined && others.length > 0) throw new SeveralProvidersError(providers);
  const named =
    issuer === undefined ? first : providers.find((provider) => provider.issuer === issuer);
  if (named !== undefined) {
    const alwaysHasIssuer = named.type !== 'github' && named.issuer !== CLUSTER_ISSUER_URL;
    return { provider: named, alwaysHasIssuer };
  }
  // Only the API server knows the issuer of the cluster, so any that is not of another provider may be it.
  const cluster = providers.find((provider) => provider.issuer === CLUSTER_ISSUER_URL);
  if (cluster !== undefined && typeof issuer === 'string') {
    return { provider: { ...cluster, issuer }, alwaysHasIssuer: true };
  }
  throw new TokenRequiredError('unknown-issuer', { tokenWasSent: true });
}
