import type { ClaimedIdentity } from './identity-from-claims.ts';

/** The secrets of one authorization request. */
export interface AuthorizationSecrets {
  readonly state: string;
  readonly nonce: string;
  /** PKCE verifier (RFC 7636). */
  readonly codeVerifier: string;
}

/** The provider's answer about a user who signed in. */
export interface ProviderAnswer {
  readonly claimed: ClaimedIdentity;
  /** Gets the user's current claims later; absent if the provider issues none. */
  readonly refreshToken?: string;
  /** Does the same where access tokens do not expire. */
  readonly accessToken?: string;
}
