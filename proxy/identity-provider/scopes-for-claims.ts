import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';

/** The scopes for claims that every OpenID provider supports. */
const DEFAULT_SCOPES = ['openid', 'email', 'profile'];

/** Asks for a refresh token, and for no claims (OpenID Connect Core, section 11). */
export const OFFLINE_ACCESS = 'offline_access';

/** Returns the scopes that the gateway requests at an OpenID provider to learn about a user. */
export function scopesForClaims({
  scopes = DEFAULT_SCOPES,
}: Pick<CompiledIdentityProvider, 'scopes'>): readonly string[] {
  return scopes.filter((scope) => scope !== OFFLINE_ACCESS);
}

/** Returns whether all scopes were granted that the gateway requests to learn about a user. */
export function hasScopesForClaims(
  provider: Pick<CompiledIdentityProvider, 'scopes'>,
  granted: readonly unknown[],
): boolean {
  return scopesForClaims(provider).every((scope) => granted.includes(scope));
}
