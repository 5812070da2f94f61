import type { GatewaySettings } from '../../../crds/types.ts';
import type { CompiledIdentityProvider } from '../../../shared/snapshot/snapshot.ts';
import { memberPath } from '../../validate/field-path.ts';
import { all, andThen, combine, made, invalid, type CompileResult } from '../compile-result.ts';
import type { SettingsSources } from '../referables.ts';
import { namespaceOf, type CompileOptions } from '../resources.ts';
import { compileIdentityProvider, type Provider } from './compile-identity-provider.ts';

const PATH = 'spec.identityProviders';

/** Compiles the identity providers of the settings, and decides at which of them users sign in. */
export function compileIdentityProviders(
  settings: GatewaySettings,
  { secrets, configMaps }: SettingsSources,
  { devAllowLoopback, services }: CompileOptions,
): CompileResult<readonly CompiledIdentityProvider[]> {
  const { identityProviders: providers = [] } = settings.spec;
  const namespace = namespaceOf(settings);
  const chosen = chooseSignIn(providers);
  const compiled = providers.map((provider, index) => {
    const path = memberPath(PATH, index);
    const signIn = chosen.kind === 'made' && provider === chosen.value;
    const hasCluster = services !== 'none';
    const sources = { secrets, configMaps };
    const context = { path, namespace, ...sources, devAllowLoopback, hasCluster, signIn };
    return compileIdentityProvider(provider, context);
  });
  const parts = combine({ chosen, list: all(compiled) });
  return andThen(parts, ({ list }) => withDistinctIssuers(list));
}

/** Users sign in at the provider with `signIn`, or at the only one that they can sign in at. */
function chooseSignIn(providers: readonly Provider[]): CompileResult<Provider | undefined> {
  const chosen = providers.find(({ signIn }) => signIn === true);
  if (chosen !== undefined) return made(chosen);
  const candidates = providers.filter((one) => one.clientId !== undefined && one.signIn !== false);
  if (candidates.length <= 1) return made(candidates[0]);
  const message = 'must have one provider with a clientId, or exactly one with signIn: true';
  return invalid(PATH, 'UnsupportedValue', message);
}

/** Attack: a token of one provider that is judged by the audiences of another with the same issuer. */
function withDistinctIssuers(
  providers: readonly CompiledIdentityProvider[],
): CompileResult<readonly CompiledIdentityProvider[]> {
  return all(
    providers.map((provider, index) => {
      const same = providers.find(({ issuer }) => issuer === provider.issuer);
      if (same === provider || same === undefined) return made(provider);
      const path = `${memberPath(PATH, index)}.issuerUrl`;
      const message = `is the issuer of ${same.name} too, and tokens tell providers apart by it only`;
      return invalid(path, 'UnsupportedValue', message);
    }),
  );
}
