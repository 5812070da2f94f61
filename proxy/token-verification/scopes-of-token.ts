import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { scopesForClaims } from '../identity-provider/scopes-for-claims.ts';

/** Returns the scopes of an access token: a text (RFC 9068, section 2.2.3) or, at some providers, a list `scp`. */
export function scopesOfToken({ scope, scp }: SourceClaims): readonly unknown[] {
  return [scope, scp].flatMap((each) => (typeof each === 'string' ? each.split(' ') : each));
}

/** Returns whether a token has all scopes that the gateway requests at sign-in, and so as many claims. */
export function hasScopesOfSignIn(
  claims: SourceClaims,
  provider: Pick<CompiledIdentityProvider, 'scopes'>,
): boolean {
  const scopes = scopesOfToken(claims);
  return scopesForClaims(provider).every((scope) => scopes.includes(scope));
}
