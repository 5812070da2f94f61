import { hashToken, type TokenHash } from '../crypto/tokens.ts';
import { userKey, type UserReference } from './user-key.ts';

/** What one internal token is for: a user at the upstream of one route. */
export interface InternalTokenKey {
  readonly user: UserReference;
  /** See `CompiledUpstreamOAuth.routeId`. */
  readonly routeId: string;
  /** Digest of where the route's tokens may be sent. With another one, there is no token. */
  readonly binding: string;
}

/** The tokens with which the gateway calls an upstream for one user. */
export interface InternalToken {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since the epoch. Absent if the authorization server did not say. */
  readonly expiresAt?: number;
  /** Milliseconds since the epoch. */
  readonly issuedAt: number;
  /** Of the authorization server; with given endpoints the token URL. The tokens are sent to no other. */
  readonly issuer: string;
  /** The upstream's resource identifier (RFC 8707). */
  readonly resource: string;
  /** The gateway's client ID, for which the tokens were issued. */
  readonly clientId: string;
  /** The callback URL at which the gateway is that client: each host of the gateway is one of its own. */
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

const DAY_SECONDS = 86_400;

/** How long a connection that is not used lasts. */
const LONGEST_LIFE_SECONDS = 90 * DAY_SECONDS;

/** Returns an id of a key that does not show its parts. */
export function internalTokenId({ user, routeId, binding }: InternalTokenKey): TokenHash {
  return hashToken(JSON.stringify([userKey(user), routeId, binding]));
}

/**
 * Returns how long a token is kept from when it was issued: for as long as its refresh token may be good.
 * Only a token without one ends when it expires.
 */
export function secondsToKeep({ refreshToken, expiresAt, issuedAt }: InternalToken): number {
  if (refreshToken !== undefined || expiresAt === undefined) return LONGEST_LIFE_SECONDS;
  return Math.min(LONGEST_LIFE_SECONDS, (expiresAt - issuedAt) / 1000);
}
