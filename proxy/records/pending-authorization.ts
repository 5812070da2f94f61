import type { Origin } from '../../shared/snapshot/origin.ts';

/** A valid authorization request that waits for the user. */
export interface PendingAuthorization {
  readonly issuer: Origin;
  readonly clientId: string;
  readonly redirectUri: string;
  /** The request named the redirect URI, so the token request must too (RFC 6749, 4.1.3). */
  readonly redirectUriWasSent?: boolean;
  /** RFC 8707, canonical: the route's own identifier. */
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly codeChallenge: string;
  readonly state?: string;
  /** The client asked for the page even where a consent is remembered (`prompt=consent`). */
  readonly askAgain: boolean;
}
