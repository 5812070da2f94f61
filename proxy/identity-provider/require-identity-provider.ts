import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { SignInFailedError } from '../errors/authentication-errors.ts';
import type { Configuration } from '../configuration/configuration.ts';

/** Returns the provider that signs users in; throws a `SignInFailedError` if none is configured. */
export function requireIdentityProvider({
  identityProvider,
}: Pick<Configuration, 'identityProvider'>): CompiledIdentityProvider {
  if (identityProvider !== undefined) return identityProvider;
  const message = 'no identity provider is configured';
  throw new SignInFailedError('no-identity-provider', message, { status: 502 });
}
