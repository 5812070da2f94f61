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

type Providers = Pick<Configuration, 'settings' | 'identityProviders'>;

/** The claims of a user do not say of which provider of the route they are, or name one of another route. */
export class ProviderOfUserError extends Error {
  override readonly name = 'ProviderOfUserError';

  constructor(providers: readonly CompiledIdentityProvider[], problem: string) {
    const each = providers.map(({ name, issuer }) => `${name} (${issuer})`);
    super(`the users of the route are those of ${each.join(', ')}: ${problem}`);
  }
}

/**
 * Returns the provider of a user: that of the route, or with `jwt` the one that `iss` names. Throws a
 * `ProviderOfUserError` if the claims do not fit, and a `GatewayError` if the gateway refuses every such user.
 */
export function providerOfUser(
  claims: SourceClaims,
  route: CompiledRoute,
  configuration: Providers,
): CompiledIdentityProvider {
  const { identityProviders } = configuration;
  const accepted = acceptedCredentials(route, configuration);
  const format = accepted.kind === 'bearer-token' ? accepted.use.format : 'default';
  if (format === 'jwt') return providerOfIssuer(claims['iss'], usersOf(route, identityProviders));
  const provider =
    identityProviders.ofRoute(route) ??
    requireIdentityProvider(route.identityProvider, identityProviders);
  const { iss = provider.issuer } = claims;
  if (iss === provider.issuer) return provider;
  throw new ProviderOfUserError([provider], 'the claim "iss" names another');
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
): CompiledIdentityProvider {
  const [first, ...others] = providers;
  if (issuer === undefined && others.length > 0) {
    throw new ProviderOfUserError(providers, 'say which by the claim "iss"');
  }
  const named =
    issuer === undefined ? first : providers.find((provider) => provider.issuer === issuer);
  if (named !== undefined) return named;
  // Only the API server knows the issuer of the cluster, so any that is not of another provider may be it.
  const cluster = providers.find((provider) => provider.issuer === CLUSTER_ISSUER_URL);
  if (cluster !== undefined && typeof issuer === 'string') {
    return { ...cluster, issuer };
  }
  throw new TokenRequiredError('unknown-issuer', { tokenWasSent: true });
}
