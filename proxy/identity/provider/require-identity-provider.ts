import type { CompiledIdentityProvider } from '../../../shared/snapshot/snapshot.ts';
import { SignInFailedError } from '../../errors/authentication-errors.ts';
import type { Configuration } from '../../configuration/configuration.ts';

/** The provider that signs users in, or the error for a gateway that has none. */
export function requireIdentityProvider({
  identityProvider,
}: Pick<Configuration, 'identityProvider'>): CompiledIdentityProvider {
  if (identityProvider !== undefined) return identityProvider;
  const message = 'no identity provider is configured';
  throw new SignInFailedError('no-identity-provider', message, { status: 502 });
}
