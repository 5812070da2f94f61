import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import { SignInFailedError } from '../errors/authentication-errors.ts';
import type { IdentityProviders } from '../configuration/identity-providers.ts';

/** An identity provider at which users sign in. */
export type SignInProvider = CompiledIdentityProvider & { readonly clientId: string };

const UNUSABLE = {
  status: 502,
  advice:
    'Users of this page sign in at an identity provider that this gateway cannot use. The administrator of this gateway can change that: give them the request ID.',
} as const;

/**
 * Returns the provider with a name, or without a name the one with `signIn`. Throws a `SignInFailedError` if
 * it is not configured, or users cannot sign in there.
 */
export function requireIdentityProvider(
  name: string | undefined,
  providers: Pick<IdentityProviders, 'find'>,
): SignInProvider {
  const provider = providers.find(name);
  if (provider === undefined) throw notConfigured(name);
  if (isSignInProvider(provider)) return provider;
  const message = `users cannot sign in at the identity provider "${provider.name}"`;
  throw new SignInFailedError('no-sign-in', message, UNUSABLE);
}

function notConfigured(name: string | undefined): SignInFailedError {
  const reason = 'no-identity-provider';
  if (name !== undefined) {
    return new SignInFailedError(reason, `no identity provider has the name "${name}"`, UNUSABLE);
  }
  return new SignInFailedError(reason, 'no identity provider is configured', { status: 502 });
}

/**
 * Returns whether users can sign in at a provider; not if there is none. Apple answers with a form that another site posts, and
 * browsers send no cookie with it that shows who began the sign-in. Decision D-155.
 */
export function isSignInProvider(
  provider: CompiledIdentityProvider | undefined,
): provider is SignInProvider {
  return provider?.clientId !== undefined && provider.type !== 'apple';
}
