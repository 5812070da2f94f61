import type { Route } from '../../crds/types.ts';
import type { CompiledRoute } from '../../shared/snapshot/snapshot.ts';
import { didYouMean } from '../validate/did-you-mean.ts';
import { andThen, combine, made, invalid, type CompileResult } from './compile-result.ts';
import {
  bearerTokenFormatProblem,
  type ProviderFacts,
} from './identity-providers/bearer-token-format.ts';
import { isPublic } from './is-public.ts';
import type { RouteContext } from './route-context.ts';

type Spec = Route['spec'];

/** What a route says itself about the credentials that it accepts. */
export type Credentials = Pick<
  CompiledRoute,
  'bearerTokenFormat' | 'identityProvider' | 'idpAccessTokenAllowedAudiences'
>;

/** Compiles which credentials a route accepts: nobody may need one that nobody can have. */
export function compileCredentials(spec: Spec, context: RouteContext): CompileResult<Credentials> {
  const { mcp, identityProvider, idpAccessTokenAllowedAudiences } = spec;
  if (isPublic(spec) || context.missingSettings !== undefined) return made({});
  // Users sign in to applications whatever format the settings have for other routes.
  const bearerTokenFormat = mcp?.client === undefined ? spec.bearerTokenFormat : 'default';
  const provider = findProvider(spec, context);
  const parts = combine({
    audiences: checkAudiences(spec, context),
    format: andThen(provider, (found) => checkFormat(spec, found, context)),
  });
  return andThen(parts, () =>
    made({
      ...(bearerTokenFormat !== undefined && { bearerTokenFormat }),
      ...(identityProvider !== undefined && { identityProvider }),
      ...(idpAccessTokenAllowedAudiences !== undefined && { idpAccessTokenAllowedAudiences }),
    }),
  );
}

/** The provider that the route names, or the one where users sign in. */
function findProvider(spec: Spec, context: RouteContext): CompileResult<ProviderFacts | undefined> {
  const { identityProviders: providers } = context;
  const { identityProvider: name } = spec;
  if (name === undefined) return made(providers.find(({ signIn }) => signIn));
  const path = 'spec.identityProvider';
  const provider = providers.find((one) => one.name === name);
  if (provider === undefined) {
    const hint = didYouMean(
      name,
      providers.map((one) => one.name),
    );
    const message = `is not a valid identity provider of the settings${hint}`;
    return invalid(path, 'IdentityProviderNotFound', message);
  }
  if (!provider.hasClient) {
    return invalid(path, 'UnsupportedValue', 'has no clientId, so nobody can sign in there');
  }
  // Attack: an operator who takes it for a restriction would let in tokens of every provider.
  if (formatOf(spec, context) === 'jwt' && spec.mcp?.server === undefined) {
    const message = 'does not restrict bearerTokenFormat jwt, and nobody signs in with that';
    return invalid(path, 'UnsupportedValue', message);
  }
  return made(provider);
}

/** Attack: an operator who lists audiences expects that no other token is accepted. */
function checkAudiences(spec: Spec, context: RouteContext): CompileResult<undefined> {
  const isUsed = formatOf(spec, context) === 'idp_access_token';
  if (spec.idpAccessTokenAllowedAudiences === undefined || isUsed) return made(undefined);
  const message = 'is only for bearerTokenFormat idp_access_token';
  return invalid('spec.idpAccessTokenAllowedAudiences', 'UnsupportedValue', message);
}

function checkFormat(
  spec: Spec,
  provider: ProviderFacts | undefined,
  context: RouteContext,
): CompileResult<undefined> {
  const format = formatOf(spec, context);
  const { identityProviders: providers, signIn } = context;
  if (format === 'default') {
    if (provider?.type === 'apple') return noSignInWithApple(spec, provider);
    const isAvailable = provider !== undefined || signIn.kind === 'available';
    return isAvailable ? made(undefined) : invalid('', signIn.reason, signIn.message);
  }
  const hasAllowedAudiences =
    spec.idpAccessTokenAllowedAudiences !== undefined || context.hasAllowedAudiences;
  const problem = bearerTokenFormatProblem({ format, provider, providers, hasAllowedAudiences });
  if (problem === undefined) return made(undefined);
  const path = spec.bearerTokenFormat === undefined ? '' : 'spec.bearerTokenFormat';
  return invalid(path, 'UnsupportedValue', problem);
}

/** Decision D-155. */
function noSignInWithApple(
  { identityProvider }: Spec,
  { name }: ProviderFacts,
): CompileResult<undefined> {
  const path = identityProvider === undefined ? '' : 'spec.identityProvider';
  const message = `users cannot sign in with Apple: ${name} is for bearerTokenFormat idp_identity_token`;
  return invalid(path, 'UnsupportedValue', message);
}

function formatOf(
  { bearerTokenFormat, mcp }: Spec,
  context: RouteContext,
): RouteContext['bearerTokenFormat'] {
  if (mcp?.client !== undefined) return 'default';
  return bearerTokenFormat ?? context.bearerTokenFormat;
}
