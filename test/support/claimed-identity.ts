import {
  identityFromClaims,
  type ClaimSettings,
} from '../../proxy/identity-provider/identity-from-claims.ts';
import type { Identity } from '../../proxy/records/session.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Settings of a provider that says nothing about claims. */
export const CORP: ClaimSettings = { name: 'corp', issuer: 'https://idp.example' };

/** Returns the identity in claims that have one. */
export function claimedIdentity(
  idToken: Claims & { readonly sub: string },
  userInfo: Claims = {},
  settings: Partial<ClaimSettings> = {},
): Identity {
  const claimed = identityFromClaims({ ...CORP, ...settings }, idToken, userInfo);
  if (claimed.kind === 'identity') return claimed.identity;
  throw new Error(`the claims have no identity: ${claimed.reason}`);
}
