import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { TokenRefusedError } from './token-refused-error.ts';

/** Types of JWTs that `typ` can name (RFC 7515, section 4.1.9); `other` is for another use than ours. */
export type JwtType = 'access-token' | 'plain' | 'other';

/** Claims of identity tokens that access tokens do not have (OpenID Connect Core, sections 2 and 3.3.2.11). */
const OF_IDENTITY_TOKENS = ['nonce', 'at_hash', 'c_hash', 's_hash'];

/** What an access token permits; an identity token permits nothing. */
const OF_ACCESS_TOKENS = ['scope', 'scp'];

/** Returns what the header of a JWT says about its type. The prefix is optional and case ignored. */
export function jwtTypeOf({ typ }: { readonly typ?: unknown }): JwtType {
  if (typ === undefined) return 'plain';
  if (typeof typ !== 'string') return 'other';
  const type = typ.toLowerCase().replace(/^application\//, '');
  if (type === 'at+jwt') return 'access-token';
  return type === 'jwt' ? 'plain' : 'other';
}

/**
 * Refuses a token without `typ` that may be no access token. Attack: an identity token goes to applications
 * that may not call anything in the user's name, and is no secret to them. So a token must say what it
 * permits, and have nothing of an identity token.
 */
export function requireSignsOfAccessToken(claims: SourceClaims): void {
  refuseSigns(claims, OF_IDENTITY_TOKENS);
  refuseEvents(claims);
  if (!hasAny(claims, OF_ACCESS_TOKENS)) throw new TokenRefusedError('wrong-token-type');
}

/** Refuses a token without `typ` that may be no identity token. */
export function refuseSignsOfAccessToken(claims: SourceClaims): void {
  refuseSigns(claims, OF_ACCESS_TOKENS);
  refuseEvents(claims);
}

/** Logout tokens and other security events (RFC 8417) have this claim, and the same issuer and audience. */
export function refuseEvents(claims: SourceClaims): void {
  refuseSigns(claims, ['events']);
}

function refuseSigns(claims: SourceClaims, names: readonly string[]): void {
  if (hasAny(claims, names)) throw new TokenRefusedError('wrong-token-type');
}

function hasAny(claims: SourceClaims, names: readonly string[]): boolean {
  return names.some((name) => Object.hasOwn(claims, name));
}
