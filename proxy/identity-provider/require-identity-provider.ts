import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { SignInFailedError } from '../errors/authentication-errors.ts';
import type { IdentityProviders } from '../configuration/identity-providers.ts';

/** An identity provider at which users sign in. */
export type SignInProvider = CompiledIdentityProvider & { readonly clientId: string };

/**
 * Returns the provider with a name, or without a name the one with `signIn`. Throws a `SignInFailedError` if
 * it is not configured, or users cannot sign in there.
 */
export function requireIdentityProvider(
  name: string | undefined,
  providers: Pick<IdentityProviders, 'find'>,
): SignInProvider {
  const provider = providers.find(name);
  if (provider === undefined) {
    const message =
      name === undefined
        ? 'no identity provider is configured'
        : `no identity provider has the name "${name}"`;
    throw new SignInFailedError('no-identity-provider', message, { status: 502 });
  }
  if (isSignInProvider(provider)) return provider;
  const message = `users cannot sign in at the identity provider "${provider.name}"`;
  throw new SignInFailedError('no-sign-in', message, { status: 502 });
}

/**
 * Returns whether users can sign in at a provider. Apple answers with a form that another site posts, and
 * browsers send no cookie with it that shows who began the sign-in. Decision D-155.
 */
export function isSignInProvider(provider: CompiledIdentityProvider): provider is SignInProvider {
  return provider.clientId !== undefined && provider.type !== 'apple';
}
