import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { SignInFailedError } from '../errors/authentication-errors.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** A provider where users can sign in. */
export type SignInProvider = CompiledIdentityProvider & { readonly clientId: string };

/** Returns the provider that signs users in; throws a `SignInFailedError` if none is configured. */
export function requireIdentityProvider({
  identityProvider,
}: Pick<Configuration, 'identityProvider'>): SignInProvider {
  if (identityProvider !== undefined && hasClient(identityProvider)) return identityProvider;
  const message = 'no identity provider is configured';
  throw new SignInFailedError('no-identity-provider', message, { status: 502 });
}

function hasClient(provider: CompiledIdentityProvider): provider is SignInProvider {
  return provider.clientId !== undefined;
}
