import type { GatewaySettings } from '../../crds/types.ts';
import type { CompiledIdentityProvider, GroupsLookup } from '../../shared/snapshot/snapshot.ts';
import { memberPath } from '../validate/field-path.ts';
import { all, andThen, made, invalid, type CompileResult } from './compile-result.ts';
import { resolveSecret } from './resolve-secret.ts';
import { resourceName, type CompileOptions, type Secrets } from './resources.ts';
import { schemeProblem } from './secure-scheme.ts';

type Provider = NonNullable<GatewaySettings['spec']['identityProviders']>[number];

const PATH = 'spec.identityProviders';

/**
 * Compiles the provider that signs users in: the only one, or the one with `signIn`. Returns undefined
 * if the settings name no provider. All providers are checked.
 */
export function compileIdentityProvider(
  settings: GatewaySettings,
  secrets: Secrets,
  { devAllowLoopback }: CompileOptions,
): CompileResult<CompiledIdentityProvider | undefined> {
  const { identityProviders: providers = [] } = settings.spec;
  if (providers.length === 0) return made(undefined);
  const [namespace = ''] = resourceName(settings).split('/');
  const compiled = providers.map((provider, index) => {
    const path = memberPath(PATH, index);
    const problem = urlProblem(provider.issuerUrl, devAllowLoopback);
    if (problem !== undefined) return invalid(`${path}.issuerUrl`, 'UnsupportedValue', problem);
    const { groupsLookup } = provider;
    const lookupProblem = groupsLookup && urlProblem(groupsLookup.url, devAllowLoopback);
    if (lookupProblem !== undefined) {
      return invalid(`${path}.groupsLookup.url`, 'UnsupportedValue', lookupProblem);
    }
    return andThen(clientSecretOf(provider, { namespace, path, secrets }), (clientSecret) =>
      made(compileProvider(provider, clientSecret)),
    );
  });
  return andThen(all(compiled), (list) => {
    const signIn = chooseSignIn(providers);
    if (signIn === undefined) {
      const message = 'must have one provider, or exactly one with signIn: true';
      return invalid(PATH, 'UnsupportedValue', message);
    }
    return made(list[providers.indexOf(signIn)]);
  });
}

function chooseSignIn(providers: readonly Provider[]): Provider | undefined {
  const candidates =
    providers.length === 1
      ? providers.filter(({ signIn }) => signIn !== false)
      : providers.filter(({ signIn }) => signIn === true);
  return candidates.length === 1 ? candidates[0] : undefined;
}

function urlProblem(written: string, devAllowLoopback: boolean): string | undefined {
  const url = URL.parse(written);
  if (url?.username !== '' || url.password !== '') return 'must be a URL without a user';
  return schemeProblem({ scheme: url.protocol, host: url.hostname }, devAllowLoopback);
}

function clientSecretOf(
  { clientSecretRef }: Provider,
  place: { readonly namespace: string; readonly path: string; readonly secrets: Secrets },
): CompileResult<string | undefined> {
  if (clientSecretRef === undefined) return made(undefined);
  return resolveSecret(clientSecretRef, { ...place, path: `${place.path}.clientSecretRef` });
}

function compileProvider(
  provider: Provider,
  clientSecret: string | undefined,
): CompiledIdentityProvider {
  return {
    kind: 'identity-provider',
    name: provider.name,
    issuer: provider.issuerUrl,
    clientId: provider.clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    ...(provider.scopes !== undefined && { scopes: provider.scopes }),
    authorizationParams: provider.authorizationParams ?? {},
    ...(provider.groupsClaim !== undefined && { groupsClaim: claimPath(provider.groupsClaim) }),
    ...(provider.groupsLookup !== undefined && {
      groupsLookup: compileLookup(provider.groupsLookup),
    }),
    ...(provider.requireVerifiedEmail === true && { requireVerifiedEmail: true }),
  };
}

function compileLookup({
  url,
  groupsPath,
  nextPage = '@odata.nextLink',
}: NonNullable<Provider['groupsLookup']>): GroupsLookup {
  return { url, groupsPath: groupsPath.split('/'), nextPage };
}

/** A claim that is named by a URL, as some providers demand, has slashes that separate nothing. */
function claimPath(written: string): readonly string[] {
  return written.includes('://') ? [written] : written.split('/');
}
