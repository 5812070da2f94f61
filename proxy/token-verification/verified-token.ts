import type { CompiledIdentityProvider } from '../../shared/snapshot/snapshot.ts';
import type { SourceClaims } from '../identity-provider/groups-in-claims.ts';
import { identityFromClaims } from '../identity-provider/identity-from-claims.ts';
import type { ProviderDiscovery } from '../identity-provider/provider-discovery.ts';
import { hasScopesForClaims } from '../identity-provider/scopes-for-claims.ts';
import { withUnknownGroups } from '../identity-provider/unknown-groups.ts';
import type { Identity } from '../records/session.ts';
import type { ProviderKeys } from './provider-keys.ts';
import { scopesOfToken } from './scopes-of-token.ts';
import { TokenRefusedError } from './token-refused-error.ts';
import { expiryOf } from './token-times.ts';
import type { VerifiedClaims } from './verify-jwt.ts';

/** Whom a token is about, and for how long that is known. Times are milliseconds since the epoch. */
export interface VerifiedToken {
  readonly identity: Identity;
  /** When the token ends; `Infinity` if it does not say it. */
  readonly expiresAt: number;
  /**
   * When the token must be verified again although it has not ended, because its key may have been
   * withdrawn; `Infinity` for an opaque token.
   */
  readonly countsUntil: number;
  /** Whether the provider was asked about the token, and can say something else at any time. */
  readonly isOpaque: boolean;
}

/** What the verification of every format uses. */
export interface VerificationContext {
  readonly discovery: Pick<ProviderDiscovery, 'clientOf' | 'calls'>;
  readonly keys: ProviderKeys;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The access token of a request, and for whom it must be. */
export interface AccessTokenUse {
  readonly provider: CompiledIdentityProvider;
  /** See `refuseForeignToken`. */
  readonly allowedAudiences: readonly string[] | undefined;
}

/** Returns what is known of a JWT whose signature was verified with keys that count until a time. */
export function verifiedJwt(
  identity: Identity,
  claims: SourceClaims,
  countsUntil: number,
): VerifiedToken {
  return { identity, expiresAt: expiryOf(claims), countsUntil, isOpaque: false };
}

/** Returns what is known of a token about which its provider was asked. */
export function verifiedOpaqueToken(identity: Identity, claims: SourceClaims): VerifiedToken {
  return { identity, expiresAt: expiryOf(claims), countsUntil: Infinity, isOpaque: true };
}

/**
 * Returns the identity in claims, read as at sign-in; refuses claims that leave out a part of it. `userInfo` is
 * absent if it was not asked.
 */
export function requireIdentity(
  provider: CompiledIdentityProvider,
  claims: VerifiedClaims,
  userInfo?: SourceClaims,
  lookedUpGroups?: readonly string[],
): Identity {
  const claimed = identityFromClaims(provider, claims, userInfo ?? {}, lookedUpGroups);
  if (claimed.kind === 'unusable') throw new TokenRefusedError(claimed.reason);
  const { identity } = claimed;
  if (!mayLackGroups(provider, claims, userInfo)) return identity;
  return withUnknownGroups(identity, [claims, userInfo ?? {}], provider);
}

/**
 * Attack: whoever gets a token can leave out the scope of the groups, and would pass a policy that denies by
 * group. So only a token with the scopes of a sign-in shows at userinfo that its user has no groups. Providers
 * of machines have no such scopes: their tokens are all that there is.
 */
function mayLackGroups(
  provider: CompiledIdentityProvider,
  claims: SourceClaims,
  userInfo: SourceClaims | undefined,
): boolean {
  if (provider.clientId === undefined) return false;
  return userInfo === undefined || !hasScopesForClaims(provider, scopesOfToken(claims));
}
