import type { InternalToken } from '../../records/internal-token.ts';
import type { PendingConnection } from '../../records/pending-connection.ts';
import type { UpstreamTokens } from '../protocol/upstream-tokens.ts';
import { scopeUnion } from './scope-union.ts';

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
  const client = { issuer, resource, clientId, redirectUri };
  return { ...client, scopes: scopeUnion(scopes), ...withTimes(tokens, now) };
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
  const client = { issuer, resource, clientId, redirectUri };
  return { ...client, scopes: scopeUnion(scopes), ...kept, ...withTimes(tokens, now) };
}

function withTimes(
  { lifetimeSeconds, ...tokens }: Omit<UpstreamTokens, 'scopes'>,
  now: number,
): Pick<InternalToken, 'accessToken' | 'refreshToken' | 'expiresAt' | 'issuedAt'> {
  const expiresAt =
    lifetimeSeconds === undefined ? {} : { expiresAt: now + lifetimeSeconds * 1000 };
  return { ...tokens, issuedAt: now, ...expiresAt };
}
