import { isOrigin } from '../../../shared/snapshot/origin.ts';
import type { InternalToken } from '../../records/internal-token.ts';
import type { UpstreamServer } from '../upstream-authorization.ts';
import type { UpstreamAuthorizations } from '../upstream-authorizations.ts';
import type { InternalTokenUse } from './token-use.ts';

/** Finds the authorization servers of recorded tokens. */
export type TokenServers = Pick<UpstreamAuthorizations, 'forIssuer' | 'forgetRegistration'>;

/**
 * Returns the authorization server that issued a token, and the gateway as the client that it was issued to.
 * Null if the gateway is not that client any more. Rejects with an `UpstreamAuthError`.
 *
 * The client is that of the host where the user connected: each name of a wildcard host is a client of its own.
 */
export async function serverOfToken(
  { issuer, clientId, redirectUri }: Pick<InternalToken, 'issuer' | 'clientId' | 'redirectUri'>,
  { route, configuration, requestId }: Omit<InternalTokenUse, 'name'>,
  servers: Pick<TokenServers, 'forIssuer'>,
): Promise<UpstreamServer | null> {
  const origin: unknown = URL.parse(redirectUri)?.origin;
  if (!isOrigin(origin)) return null;
  const recorded = { issuer, clientId, ...(requestId !== undefined && { requestId }) };
  return servers.forIssuer(route, origin, configuration, recorded);
}
