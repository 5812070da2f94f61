import type { InternalToken } from '../../records/internal-token.ts';
import type { PendingConnection } from '../../records/pending-connection.ts';
import type { UpstreamTokens } from '../protocol/upstream-tokens.ts';

/** What counts of a connection that the user has finished. */
export type NewConnection = Pick<
  PendingConnection,
  | 'user'
  | 'routeName'
  | 'routeId'
  | 'binding'
  | 'issuer'
  | 'clientId'
  | 'redirectUri'
  | 'resource'
  | 'scopes'
>;

/** Makes the record of a new connection. */
export function connectedToken(
  { issuer, resource, clientId, redirectUri, scopes: asked }: NewConnection,
  { scopes = asked, ...tokens }: UpstreamTokens,
  now: number,
): InternalToken {
  return { issuer, resource, clientId, redirectUri, scopes, ...withTimes(tokens, now) };
}

/**
 * Makes the record after a refresh. Where the server gives no refresh token, the old one stays good (RFC 6749,
 * section 6).
 */
export function refreshedToken(
  { issuer, resource, clientId, redirectUri, ...old }: InternalToken,
  { scopes = old.scopes, refreshToken = old.refreshToken, ...tokens }: UpstreamTokens,
  now: number,
): InternalToken {
  const kept = refreshToken === undefined ? {} : { refreshToken };
  return { issuer, resource, clientId, redirectUri, scopes, ...kept, ...withTimes(tokens, now) };
}

function withTimes(
  { lifetimeSeconds, ...tokens }: Omit<UpstreamTokens, 'scopes'>,
  now: number,
): Pick<InternalToken, 'accessToken' | 'refreshToken' | 'expiresAt' | 'issuedAt'> {
  const expiresAt =
    lifetimeSeconds === undefined ? {} : { expiresAt: now + lifetimeSeconds * 1000 };
  return { ...tokens, issuedAt: now, ...expiresAt };
}
